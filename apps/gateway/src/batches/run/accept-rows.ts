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

/** Rows of one call of accept_batch_polls: the balance of the account is locked as long as that takes. */
const ROWS_AT_ONCE = 100;
/** Other work of this process comes in between. */
const ROWS_BETWEEN_TURNS = 5;

const ENTRY_POINT = 'batches';

/** Why rows that wait were not begun. `lost`: another runner has the batch, or it has ended. */
export type Refusal = 'lost' | 'uncovered' | 'expired' | 'canceled' | 'stopped';

export interface AcceptedRows {
  /** Every row up to it has its poll, or has ended without one. */
  afterLine: number;
  refusal: Refusal | null;
  /** What the row that was not begun would hold. */
  nextHoldU?: bigint | undefined;
}

interface Window {
  afterLine: number;
  limit: number;
}

/** Makes polls of the rows that wait, in the order of their lines, and puts them into the flex lane. */
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
    // The account has its turns, however many batches it has.
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
  /** Lines that cannot be asked any more, by the code of the error: a model has left the roster, a saved panel is gone. */
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

/** Without Redis the workers' sweep enqueues them later. */
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
      // Freezing an account ends its polls, and so its batches.
      log.warn({ batch_id: id }, 'batch.account_frozen');
      await cancelBatch(storage, accountId, id);
      return { refusal: 'canceled' };
    default:
      return { refusal: answer.outcome };
  }
}
