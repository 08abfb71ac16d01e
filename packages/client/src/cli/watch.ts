import type { EloquentPoll } from '../eloquentpoll.ts';
import { exitOfBatch, followBatch, summaryOf } from './batch.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { followEvents } from './follow-events.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { showOutcome } from './show-outcome.ts';
import { print } from './terminal.ts';
import { watchMany } from './watch-many.ts';

/**
 * Follows polls to their ends and shows their results. Without an id, all running ones. A result id names an ended
 * poll.
 */
export async function watchCommand(invocation: Invocation, ids: readonly string[]): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const watched = ids.length > 0 ? ids : await runningPolls(polls, terminal.signal);
  const [id] = watched;
  if (id === undefined) {
    if (!json) print(terminal.err, 'None of your polls is running.');
    return EXIT.winner;
  }
  if (id.startsWith('pb_')) return watchBatch(invocation, id);
  if (watched.length > 1) return watchMany(invocation, watched);
  if (id.startsWith('ps_')) {
    const timeoutMs = Number.POSITIVE_INFINITY;
    return followEvents(polls.session(id).stream({ signal: terminal.signal, timeoutMs }), invocation);
  }
  return showOutcome(await polls.result(id, { signal: terminal.signal }), invocation);
}

async function watchBatch(invocation: Invocation, id: string): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  invocation.heard.batchId = id;
  const batch = await followBatch(invocation, polls.batchRun(id), 'watch');
  print(terminal.out, ...(json ? [jsonText(batch)] : summaryOf(invocation, batch, '-', 0)));
  return exitOfBatch(batch);
}

/** Newest last, so that those that will probably end first are shown first. */
async function runningPolls(polls: EloquentPoll, signal: AbortSignal): Promise<string[]> {
  const running: string[] = [];
  for await (const { session_id } of polls.eachPoll({ status: 'running' }, { signal })) running.push(session_id);
  return running.reverse();
}
