import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  acceptBatchPolls,
  type BatchRowAnswer,
  type ClaimedBatch,
  cancelBatch,
  failBatchRows,
  type NewBatchPoll,
  type WaitingRow,
  waitingFlexPolls,
  waitingRows,
} from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { countAccepted } from '../../polls/run/count-accepted.ts';
import { preparePoll } from '../../polls/run/prepare-poll.ts';

/** Rows per call of accept_batch_polls, which locks the account's balance for its whole duration. */
const ROWS_AT_ONCE = 100;
/** Other work of this process runs after this many rows. */
const ROWS_BETWEEN_TURNS = 5;

const ENTRY_POINT = 'batches';

/** Why waiting rows were not started. `lost`: another gateway runs the batch, or it has ended. */
export type Refusal = 'lost' | 'uncovered' | 'expired' | 'canceled' | 'stopped';

export interface AcceptedRows {
  /** All rows up to this line have a poll, or ended without one. */
  afterLine: number;
  refusal: Refusal | null;
  /** The hold that the first row that was not started needs. */
  nextHoldU?: bigint | undefined;
}

interface Window {
  afterLine: number;
  limit: number;
}

/** Turns waiting rows into polls, in the order of their lines, and puts these into the flex lane. */
export async function acceptRows(
  context: PollsContext,
  batch: ClaimedBatch,
  { afterLine, limit }: Window,
): Promise<AcceptedRows> {
  for (let left = limit; left > 0; ) {
    const rows = await waitingRows(context.storage, batch.id, afterLine, Math.min(left, ROWS_AT_ONCE));
    if (rows.length === 0) break;
    const { polls, refused } = await prepareRows(context, batch, rows);
    for (const [code, lines] of refused)
      if (!(await failBatchRows(context.storage, batch, lines, code))) return { afterLine, refusal: 'lost' };
    // Ranked per account, so that several batches give it no larger share.
    const rank = await waitingFlexPolls(context.storage, batch.accountId);
    const answers = await accept(context, batch, polls);
    const accepted = answers.flatMap((answer) => (answer.outcome === 'accepted' ? [answer.pollId] : []));
    await enqueue(context, batch, accepted, rank);
    const stopped = answers.find(isRefused);
    if (stopped) {
      const nextHoldU = polls.find(({ line }) => line === stopped.line)?.holdU;
      return { afterLine: stopped.line - 1, nextHoldU, ...(await refusalOf(context, batch, stopped)) };
    }
    afterLine = rows.at(-1)!.line;
    left -= rows.length;
  }
  return { afterLine, refusal: null };
}

interface PreparedRows {
  polls: NewBatchPoll[];
  /** Lines that cannot be asked any more, by error code: a model has left the roster, or a saved panel was deleted. */
  refused: Map<string, number[]>;
}

async function prepareRows(
  context: PollsContext,
  { accountId }: ClaimedBatch,
  rows: readonly WaitingRow[],
): Promise<PreparedRows> {
  const polls: NewBatchPoll[] = [];
  const refused = new Map<string, number[]>();
  for (const [i, { line, order: asked }] of rows.entries()) {
    if (i % ROWS_BETWEEN_TURNS === 0) await nextTurn();
    const order = { ...asked, service_tier: 'flex' as const };
    try {
      const prepared = await preparePoll(context, { order, accountId, tenant: accountId });
      polls.push({ line, webhookUrl: order.webhook_url, ...prepared });
    } catch (error) {
      if (!(error instanceof ApiError && error.circumstances.issues)) throw error;
      refused.set(error.code, [...(refused.get(error.code) ?? []), line]);
    }
  }
  return { polls, refused };
}

async function accept(
  context: PollsContext,
  { id: batchId, epoch }: ClaimedBatch,
  polls: NewBatchPoll[],
): Promise<BatchRowAnswer[]> {
  if (polls.length === 0) return [];
  const answers = await acceptBatchPolls(context.storage, { batchId, epoch, entryPoint: ENTRY_POINT, polls });
  const asked = new Map(polls.map((poll) => [poll.line, poll]));
  for (const { line, outcome } of answers) if (outcome === 'accepted') countAccepted(context, asked.get(line)!);
  return answers;
}

/** While Redis is away, the workers' sweep enqueues them later. */
async function enqueue(
  { bus, log, metrics }: PollsContext,
  { id, accountId }: ClaimedBatch,
  pollIds: readonly string[],
  rank: number,
): Promise<void> {
  if (pollIds.length === 0) return;
  const places = pollIds.map((pollId, i) => ({
    pollId,
    tenant: accountId,
    place: { rank: rank + i, isAwaited: false },
  }));
  try {
    await bus.enqueuePolls('flex', places);
  } catch (err) {
    metrics.counter('eloquentpoll_polls_not_queued_total').n += pollIds.length;
    log.warn({ batch_id: id, polls: pollIds.length, err }, 'batch.enqueue_failed');
  }
}

type RefusedRow = Exclude<BatchRowAnswer, { outcome: 'accepted' }> & {
  outcome: Exclude<BatchRowAnswer['outcome'], 'accepted' | 'ended'>;
};

const isRefused = (answer: BatchRowAnswer): answer is RefusedRow =>
  answer.outcome !== 'accepted' && answer.outcome !== 'ended';

async function refusalOf(
  { storage, log }: PollsContext,
  { id, accountId }: ClaimedBatch,
  answer: RefusedRow,
): Promise<Pick<AcceptedRows, 'refusal'>> {
  switch (answer.outcome) {
    case 'over':
    case 'fenced':
      return { refusal: 'lost' };
    case 'frozen':
      // Freezing an account ends its polls, so its batches end too.
      log.warn({ batch_id: id }, 'batch.account_frozen');
      await cancelBatch(storage, accountId, id);
      return { refusal: 'canceled' };
    default:
      return { refusal: answer.outcome };
  }
}
