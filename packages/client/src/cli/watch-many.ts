import { EloquentPollError, type SessionStatus } from '../eloquentpoll.ts';
import { pause } from '../pause.ts';
import { EXIT, type Exit, exitOfError, exitOfOutcome } from './exit-codes.ts';
import { howFar, plural } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { fit, pad, plain } from './plain-text.ts';
import { facts, type ShownOutcome, verdictLines } from './summary.ts';
import { canRedraw, canvas, columnsOf, print, programOf, styleOf } from './terminal.ts';

// Watches several polls: one row per running poll as far as they fit, and one line per ended poll.

const EVERY_MS = 800;
const MAX_IDS = 100;
const MAX_ROWS = 12;
const FIRST_AWAY_MS = 2_000;
const MAX_AWAY_MS = 30_000;

/** The exit code is the most severe one of the polls. */
export async function watchMany(invocation: Invocation, ids: readonly string[]): Promise<Exit> {
  const { json, terminal } = invocation;
  const { signal, out, err } = terminal;
  const view = runningView(invocation);
  let running = ids.filter((id) => id.startsWith('ps_'));
  let exit: Exit = EXIT.winner;
  const end = async (id: string) => {
    const ended = await readEnded(invocation, id);
    view.clear();
    print(out, ended.line);
    exit = gravest(exit, ended.exit);
  };
  try {
    for (const id of ids) if (!id.startsWith('ps_')) await end(id);
    for (let missed = -1; running.length > 0; ) {
      let polls: SessionStatus[];
      try {
        polls = await statusesOf(invocation, running);
      } catch (error) {
        // After the first look, what may pass, such as a restart of the service, only causes a delay.
        if (missed < 0 || !(error instanceof EloquentPollError && error.retryable)) throw error;
        await pause(pauseWhileAway(missed++, error), signal);
        continue;
      }
      missed = 0;
      for (const { session_id, status } of polls) if (status !== 'running') await end(session_id);
      const left = polls.filter(({ status }) => status === 'running');
      running = left.map(({ session_id }) => session_id);
      view.show(left);
      if (running.length > 0) await pause(EVERY_MS, signal);
    }
    return exit;
  } catch (error) {
    view.clear();
    const isThere = !(error instanceof EloquentPollError && error.status === 404);
    if (!json && (signal.aborted || isThere) && running.length > 0) {
      const rest = running.length <= 5 ? ` ${plain(running.join(' '))}` : '';
      print(err, `${plural(running.length, 'poll')} still running. To follow:`);
      print(err, `  ${programOf(terminal)} watch${rest}`);
    }
    throw error;
  } finally {
    view.clear();
  }
}

/** Milliseconds, longer after each failed look, and not sooner than the service says. */
function pauseWhileAway(missed: number, { retryAfterSeconds }: EloquentPollError): number {
  const half = Math.min(MAX_AWAY_MS, FIRST_AWAY_MS * 2 ** missed) / 2;
  return Math.max((retryAfterSeconds ?? 0) * 1_000, half) + Math.random() * half;
}

async function statusesOf({ polls, terminal }: Invocation, ids: readonly string[]): Promise<SessionStatus[]> {
  const found: SessionStatus[] = [];
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    const page = await polls.statuses(ids.slice(from, from + MAX_IDS), { signal: terminal.signal });
    const [missing] = page.not_found;
    if (missing !== undefined) {
      throw new EloquentPollError(`${missing} is not one of your polls.`, { code: 'session_not_found', status: 404 });
    }
    found.push(...page.polls);
  }
  return found;
}

async function readEnded({ polls, terminal, json }: Invocation, id: string): Promise<{ line: string; exit: Exit }> {
  const { signal } = terminal;
  try {
    const outcome: ShownOutcome = id.startsWith('ps_')
      ? await polls.session(id).wait({ signal })
      : await polls.result(id, { signal });
    const text = `${plain(outcome.poll_id)}  ${verdictLines(outcome).headline}  (${facts(outcome)})`;
    return { line: json ? jsonText(outcome) : text, exit: exitOfOutcome(outcome) };
  } catch (error) {
    if (!(error instanceof EloquentPollError) || !ENDED_WITHOUT_VOTES.has(error.code)) throw error;
    const { code, message } = error;
    const line = json ? jsonText({ session_id: id, code, error: message }) : plain(`${id}  ${message}`);
    return { line, exit: exitOfError(error) };
  }
}

/** One such poll must not end the watch of the others. */
const ENDED_WITHOUT_VOTES = new Set(['poll_failed', 'poll_canceled', 'budget_too_small']);

const GRAVITY: readonly Exit[] = [
  EXIT.winner,
  EXIT.partial,
  EXIT.undecided,
  EXIT.usage,
  EXIT.refused,
  EXIT.unavailable,
];
const gravest = (a: Exit, b: Exit): Exit => (GRAVITY.indexOf(b) > GRAVITY.indexOf(a) ? b : a);

function runningView({ terminal, json }: Invocation): { show(running: readonly SessionStatus[]): void; clear(): void } {
  if (json || !canRedraw(terminal, MAX_ROWS + 2)) return { show: () => {}, clear: () => {} };
  const { draw } = canvas(terminal.out);
  const ink = styleOf(terminal);
  return {
    show(running) {
      const columns = columnsOf(terminal);
      const rows = running.slice(0, MAX_ROWS).map(({ session_id, progress }) => {
        const how = progress ? howFar(progress) : 'waiting';
        return fit(`  ${pad(plain(session_id), Math.min(36, columns - 22))}  ${how}`, columns);
      });
      const more = running.length - rows.length;
      draw([...rows, ...(more > 0 ? [`  and ${more} more`] : [])].map(ink.dim));
    },
    clear: () => draw([]),
  };
}
