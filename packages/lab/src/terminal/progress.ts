// Progress of a long run: one line that is redrawn on a terminal, elsewhere a plain line now and then.

const PLAIN_EVERY_MS = 10_000;
const REDRAW_EVERY_MS = 100;

export interface ProgressLine {
  /** The latest state; printed at most at a fixed interval. */
  show(line: string): void;
  /** Prints a line that stays. */
  note(line: string): void;
  end(): void;
}

export function progressOn(stream: NodeJS.WriteStream, now: () => number = () => performance.now()): ProgressLine {
  const everyMs = stream.isTTY ? REDRAW_EVERY_MS : PLAIN_EVERY_MS;
  let shownAt = Number.NEGATIVE_INFINITY;
  const wipe = stream.isTTY ? '\r\x1b[K' : '';
  return {
    show(line) {
      if (now() - shownAt < everyMs) return;
      shownAt = now();
      const text = stream.isTTY ? line.slice(0, Math.max(20, stream.columns - 1)) : `${line}\n`;
      stream.write(wipe + text);
    },
    note(line) {
      stream.write(`${wipe}${line}\n`);
    },
    end() {
      stream.write(wipe);
    },
  };
}

export const silent: ProgressLine = { show: () => {}, note: () => {}, end: () => {} };
