import type { CallCost, PollResponse, Vote } from '@eloquentpoll/contracts';
import { responseJson, withCharges } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import { type HeardAudit, heardJson } from './heard-audit.ts';
import type { Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// The end of a poll, in one call of the SQL function finish_poll: status, result, votes, and the hold captured for what
// they are billed, all fenced by the lease epoch. Safe to repeat.

export interface FinishedPoll {
  id: string;
  /** Of the claim under which the poll was run. */
  epoch: number;
  votes: readonly Vote[];
  /** Calls that were under way when the poll stopped; no vote of theirs is stored. */
  aborted?: readonly AbortedCalls[];
  /** The synchronous poll response, but for charges that storing it adds. A poll without a valid vote has failed. */
  response: PollResponse;
  /** Hash of its receipt; without one, no receipt can be shown later. */
  receiptLeaf?: Buffer;
  /** What an account has free per UTC day of calls that its questions make fail. */
  freeFailures?: FreeFailures;
  /** What the models that it did not have to ask would have cost its account. */
  savedU?: number;
  /** Of a poll that was drawn for an audit. */
  audit?: HeardAudit | undefined;
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

/** `fenced`: another worker has claimed the poll since, or ended it; nothing was written. */
export type Finish = 'stored' | 'fenced';

export type Finished =
  | {
      outcome: 'stored';
      /** As its caller gets it. */
      response: PollResponse;
      /** With what they were billed. */
      votes: readonly Vote[];
      /** What the free pool paid for calls without a stored vote. */
      unvotedU: number;
    }
  | { outcome: 'fenced' };

export async function finishPoll(storage: Storage, poll: FinishedPoll): Promise<Finished> {
  const { id, epoch, votes, aborted = [], response, receiptLeaf, freeFailures, savedU = 0, audit } = poll;
  const freeOfCharge = freeFailures && {
    failures_free_u: String(freeFailures.atLeastU),
    failures_free_ppm: freeFailures.sharePpm,
  };
  const row = await finish(
    storage,
    {
      ...{ id, epoch, votes, aborted },
      ...(receiptLeaf && { receipt: receiptLeaf.toString('hex') }),
      ...freeOfCharge,
      ...(savedU > 0 && { saved_u: savedU }),
      ...(audit && { audit: heardJson(audit) }),
    },
    responseJson(response),
  );
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

/** Gives a poll up: it failed without a result, its hold is released, and a dead letter says why. */
export async function bury(
  storage: Storage,
  { id, epoch, reason }: { id: string; epoch: number; reason: string },
): Promise<Finish> {
  return (await finish(storage, { id, epoch, votes: [], aborted: [], dead_letter: reason }, null)).outcome;
}

interface Row {
  outcome: Finish;
  votes_u: bigint[] | null;
  failed_calls_u: bigint;
  unvoted_u: bigint;
}

/** The response is a parameter of its own, so that its text is not escaped into another. */
async function finish({ db }: Storage, poll: object, response: string | null): Promise<Row> {
  const argument = sql`${JSON.stringify(poll)}::jsonb || jsonb_build_object('response', ${response}::text)`;
  const { rows } = await repeatable(() => sql<Row>`select * from finish_poll(${argument})`.execute(db));
  return rows[0]!;
}
