import type { CallCost, PollResponse, Vote } from '@eloquentpoll/contracts';
import { storedJson, withCharges } from '@eloquentpoll/polls';
import { gather } from './gather.ts';
import { type HeardAudit, heardJson } from './heard-audit.ts';
import type { Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// Ends a poll by one call of the SQL function end_poll, or several by finish_polls: status, result, votes and the
// capture of the hold are stored together, fenced by the lease epoch. Safe to repeat.

export interface FinishedPoll {
  id: string;
  /** The epoch of the claim under which the poll was run. */
  epoch: number;
  votes: readonly Vote[];
  /** Calls that were in progress when the poll stopped; no vote is stored for them. */
  aborted?: readonly AbortedCalls[];
  /**
   * The synchronous poll response, without the charges that storing it adds. A poll without a valid vote has failed.
   */
  response: PollResponse;
  /** The caller canceled the poll. */
  isCanceled?: boolean;
  /** Hash of its receipt; without one, no receipt can be shown later. */
  receiptLeaf?: Buffer;
  /** How much of the cost of calls that an account's questions make fail is free per UTC day. */
  freeFailures?: FreeFailures;
  /** What the models that were not asked would have cost the account. */
  savedU?: number;
  /** For a poll that was selected for an audit. */
  audit?: HeardAudit | undefined;
  /** The account that pays; without one the poll is never ended together with others. */
  payer?: string | undefined;
}

/** The calls of one seat. */
export interface AbortedCalls extends Pick<CallCost, 'estimated_u' | 'max_u'> {
  seat: number;
  model_id: string;
  calls: number;
}

/** The larger of an amount and a share of what was captured in the last 24 hours. */
export interface FreeFailures {
  atLeastU: bigint;
  /** In millionths. */
  sharePpm: number;
}

/** `fenced`: another worker has claimed or ended the poll since; nothing was written. */
export type Finish = 'stored' | 'fenced';

export type Finished =
  | {
      outcome: 'stored';
      /** As the caller gets it. */
      response: PollResponse;
      /** Including what each was billed. */
      votes: readonly Vote[];
      /** What the free pool paid for calls without a stored vote. */
      unvotedU: number;
    }
  | { outcome: 'fenced' };

export async function finishPoll(storage: Storage, poll: FinishedPoll): Promise<Finished> {
  return toFinished(poll, await end(storage, toStored(poll)));
}

/** In one transaction. If one poll cannot be ended, none is. */
async function finishTogether(storage: Storage, polls: readonly FinishedPoll[]): Promise<Finished[]> {
  // In the order in which all transactions lock rows of several accounts.
  const order = polls.map((_, i) => i).sort((a, b) => compare(orderOf(polls[a]!), orderOf(polls[b]!)));
  const rows = await endTogether(
    storage,
    order.map((i) => toStored(polls[i]!)),
  );
  const finished: Finished[] = [];
  for (const [place, i] of order.entries()) finished[i] = toFinished(polls[i]!, rows[place]!);
  return finished;
}

const orderOf = ({ payer, id }: FinishedPoll) => `${payer} ${id}`;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** One per worker. Polls that end while others are being stored are stored together. */
export function pollFinisher(storage: Storage): (poll: FinishedPoll) => Promise<Finished> {
  const alone = (poll: FinishedPoll) => finishPoll(storage, poll);
  const gathered = gather({
    alone,
    together: (polls: readonly FinishedPoll[]) => finishTogether(storage, polls),
    max: 16,
    atOnce: 2,
    // Storing waits for rows of accounts, which may be locked for seconds; then polls of other accounts go ahead.
    countedMs: 100,
  });
  return (poll) => (mayShare(poll) ? gathered(poll) : alone(poll));
}

/** Charging calls that a question made fail needs a sum over the account's polls, which one call cannot fully see. */
const mayShare = ({ payer, votes }: FinishedPoll) =>
  payer !== undefined && votes.every(({ cost }) => (cost?.fault_u ?? 0) === 0);

function toStored(poll: FinishedPoll): StoredEnd {
  const { id, epoch, votes, aborted = [], receiptLeaf, freeFailures, savedU = 0, audit } = poll;
  const freeOfCharge = freeFailures && {
    failures_free_u: String(freeFailures.atLeastU),
    failures_free_ppm: freeFailures.sharePpm,
  };
  const stored = {
    ...{ id, epoch, votes, aborted },
    ...(receiptLeaf && { receipt: receiptLeaf.toString('hex') }),
    ...freeOfCharge,
    ...(savedU > 0 && { saved_u: savedU }),
    ...(audit && { audit: heardJson(audit) }),
  };
  return { poll: stored, response: storedJson(poll.response, poll.isCanceled ?? false) };
}

function toFinished({ votes, response }: FinishedPoll, row: Row): Finished {
  if (row.outcome === 'fenced') return { outcome: 'fenced' };
  const votesU = row.votes_u?.map(Number) ?? null;
  const failedCallsU = Number(row.failed_calls_u);
  return {
    outcome: 'stored',
    response: withCharges(response, votesU && failedCallsU > 0 ? { votesU, failedCallsU } : null),
    votes: votesU ? votes.map((vote, i) => ({ ...vote, billed_u: votesU[i] ?? 0 })) : votes,
    unvotedU: Number(row.unvoted_u),
  };
}

/** Gives a poll up: it fails without a result, its hold is released, and a dead letter records the reason. */
export async function bury(
  storage: Storage,
  { id, epoch, reason }: { id: string; epoch: number; reason: string },
): Promise<Finish> {
  const buried = { id, epoch, votes: [], aborted: [], dead_letter: reason };
  return (await end(storage, { poll: buried, response: null })).outcome;
}

interface Row {
  outcome: Finish;
  votes_u: bigint[] | null;
  failed_calls_u: bigint;
  unvoted_u: bigint;
}

/** The response is a separate parameter, so that its text need not be escaped inside another one. */
interface StoredEnd {
  poll: object;
  response: string | null;
}

async function end(storage: Storage, { poll, response }: StoredEnd): Promise<Row> {
  const values = [JSON.stringify(poll), response];
  const rows = await repeatable(() =>
    storage.call<Row>(`select ${COLUMNS} from end_poll($1::jsonb, $2::json, true)`, values),
  );
  return rows[0]!;
}

const COLUMNS = 'outcome, votes_u, failed_calls_u, unvoted_u';

function endTogether(storage: Storage, ends: readonly StoredEnd[]): Promise<Row[]> {
  const polls = JSON.stringify(ends.map(({ poll }) => poll));
  const responses = `[${ends.map(({ response }) => response ?? 'null').join(',')}]`;
  return storage.call<Row>(`select ${COLUMNS} from finish_polls($1::jsonb, $2::json)`, [polls, responses]);
}
