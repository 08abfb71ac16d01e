// @ts-check
// The progress shown in the terminal: one line per step with its time. On a terminal the running step has a spinner;
// elsewhere lines are only appended, and a slow step reports now and then.

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const NAME_WIDTH = 12;
const DETAIL_WIDTH = 46;

/** @typedef {{ detail(text: string): void, done(detail?: string): void, failed(detail?: string): void }} Step */
/** @typedef {ReturnType<typeof createSteps>} Steps */

/** @param {NodeJS.WriteStream} stream */
export function createSteps(stream) {
  const terminal = stream.isTTY === true && process.env.TERM !== 'dumb' && !process.env.CI;
  const colour = terminal && !process.env.NO_COLOR;
  /** @param {string} code @param {string} text */
  const paint = (code, text) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text);
  /** @type {Set<{ name: string, text: string, started: number }>} */
  const running = new Set();
  let drawn = 0;
  let frame = 0;
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  const erase = () => {
    if (drawn > 0) stream.write(`\x1b[${drawn}A\x1b[J`);
    drawn = 0;
  };
  const draw = () => {
    const mark = paint('36', FRAMES[frame++ % FRAMES.length] ?? '');
    const width = Math.max(20, (stream.columns ?? 80) - NAME_WIDTH - 16);
    for (const step of running)
      stream.write(
        `  ${mark} ${step.name.padEnd(NAME_WIDTH)} ${step.text.slice(0, width)} ${paint('2', elapsed(step.started))}\n`,
      );
    drawn = running.size;
  };
  const tick = () => {
    if (terminal) {
      erase();
      draw();
    } else
      for (const step of running)
        stream.write(`  … ${step.name.padEnd(NAME_WIDTH)} still at it, ${elapsed(step.started)}\n`);
  };
  /** @param {string} text */
  const line = (text) => {
    if (terminal) erase();
    stream.write(`${text}\n`);
    if (terminal) draw();
  };

  return {
    line,
    /** @param {string} name @param {string} [text] @returns {Step} */
    begin(name, text = '') {
      const step = { name, text, started: performance.now() };
      running.add(step);
      timer ??= setInterval(tick, terminal ? 100 : 15_000);
      timer.unref();
      if (terminal) tick();
      /** @param {string} mark @param {string} detail */
      const end = (mark, detail) => {
        if (!running.delete(step)) return;
        if (running.size === 0) timer = void clearInterval(timer);
        line(
          `  ${mark} ${name.padEnd(NAME_WIDTH)} ${detail.padEnd(DETAIL_WIDTH)} ${paint('2', elapsed(step.started).padStart(7))}`,
        );
      };
      return {
        detail: (next) => {
          step.text = next;
        },
        done: (detail = step.text) => end(paint('32', '✓'), detail),
        failed: (detail = step.text) => end(paint('31', '✗'), detail),
      };
    },
  };
}

/**
 * Runs one step: its line ends with a tick if the work succeeds and with a cross if it throws.
 * @template T
 * @param {ReturnType<typeof createSteps>} steps @param {string} name @param {string} text
 * @param {(step: Step) => Promise<T>} work @param {(result: T) => string} [summary]
 * @returns {Promise<T>}
 */
export async function runStep(steps, name, text, work, summary) {
  const step = steps.begin(name, text);
  try {
    const result = await work(step);
    step.done(summary?.(result));
    return result;
  } catch (error) {
    step.failed();
    throw error;
  }
}

/** @param {number} started */
function elapsed(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
