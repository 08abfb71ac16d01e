import { randomBytes } from 'node:crypto';
import type { PollResponse, PollSpec, Vote } from '@eloquentpoll/contracts';
import { newPollId, newResultId } from '@eloquentpoll/polls';
import { withinOne } from '@eloquentpoll/testkit/calendar';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Test } from 'tap';
import {
  type Acceptance,
  acceptPoll,
  claimPoll,
  createAccount,
  creditAccount,
  type FinishedPoll,
  insertKey,
  type NewPoll,
  openStorage,
  type Storage,
  type StorageOptions,
} from '../src/index.ts';

export interface Fixture {
  url: string;
  storage: Storage;
  /** Plain SQL as the owner of the database, for looking around and for planting damage. */
  query: <R = Record<string, unknown>>(text: string, values?: unknown[]) => Promise<R[]>;
}

/** A crowded machine must not look like a fault. */
export const GENEROUS = { connectTimeoutMs: 30_000, statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 };

/** A database of its own with an open storage; closed when the test ends. */
export async function open(t: Test, options: Partial<StorageOptions> = {}): Promise<Fixture> {
  // The spend of an hour is a sum that begins anew.
  await withinOne('hour');
  const url = await testDatabase(t);
  const storage = openStorage({ databaseUrl: url, ...GENEROUS, ...options });
  const admin = new pg.Client({ connectionString: ownerUrl(url) });
  await admin.connect();
  t.teardown(async () => {
    await admin.end();
    await storage[Symbol.asyncDispose]();
  });
  // One connection, one statement at a time, also when several hands ask.
  let last: Promise<unknown> = Promise.resolve();
  const query: Fixture['query'] = (text, values) => {
    const answer = last.then(async () => (await admin.query(text, values)).rows);
    last = answer.catch(() => {});
    return answer;
  };
  return { url, storage, query };
}

/** What goes past Kysely, too, is part of this transaction. */
export const within = (storage: Storage, db: Storage['db']): Storage => ({
  ...storage,
  db,
  call: async <Row>(text: string, values: readonly unknown[]) =>
    (await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))).rows,
});

/** A user with this much money. */
export async function funded(storage: Storage, amountU: bigint): Promise<string> {
  const accountId = await createAccount(storage);
  if (amountU > 0n) await creditAccount(storage, { accountId, amountU, source: 'operator', idem: unique('grant:') });
  return accountId;
}

export const unique = (prefix = '') => prefix + randomBytes(12).toString('hex');

export const USD = 1_000_000n;

export const spec: PollSpec = {
  question: 'Which of the two is larger?',
  options: ['A', '__proto__'],
  panel_name: 'broad',
  confidence_threshold: 0.95,
  max_cost_u: 1_000_000,
  min_votes: 3,
  search: false,
  seed: 'seed',
  seats: [0, 1, 2].map((seat) => ({
    model_id: `sim/m${seat}`,
    family: `f${seat}`,
    reserve_u: 1_000,
    failure_rate: 0,
    p90_ms: 900,
  })),
  simulated: true,
};

export function newPoll(accountId: string | null, poll: Partial<NewPoll> = {}): NewPoll {
  return {
    id: newPollId(),
    resultId: newResultId(),
    accountId,
    spec,
    deadlineMs: 60_000,
    entryPoint: 'rest',
    ...poll,
  };
}

export function acceptance(accountId: string | null, more: Partial<Acceptance> = {}): Acceptance {
  return { poll: newPoll(accountId), holdU: USD, ...more };
}

/** A poll that was accepted and claimed. */
export async function claimed(storage: Storage, accountId: string | null, more: Partial<Acceptance> = {}) {
  const request = acceptance(accountId, more);
  await acceptPoll(storage, request);
  return (await claimPoll(storage, request.poll.id, 'worker'))!;
}

export function vote(seat: number, more: Partial<Vote> = {}): Vote {
  return {
    seat,
    model_id: `sim/m${seat}`,
    option: 0,
    error: null,
    latency_ms: 700,
    billed_u: 400 + seat,
    provider_cost_u: null,
    labels: ['QJ', 'ZR'],
    calls: 1,
    searched: false,
    ...more,
  };
}

/** A failed vote whose calls cost this much, all of it brought about by the question. */
export const refused = (seat: number, costU: number) =>
  vote(seat, {
    option: null,
    error: 'refusal',
    billed_u: 0,
    cost: { estimated_u: costU, max_u: costU, fault_u: costU },
  });

export const response = (more: Partial<PollResponse> = {}): PollResponse => ({
  poll_id: 'EP-of-a-test',
  status: 'success',
  outcome: 'A',
  question: spec.question,
  options: spec.options,
  poll_type: 'fptp',
  winning_option: 'A',
  is_tie: false,
  confidence_threshold: spec.confidence_threshold,
  max_cost_usd: 1,
  early_terminated: false,
  termination_reason: 'roster_exhausted',
  models_skipped: 0,
  tally: { A: 2 },
  votes: [],
  timing: { gather_ms: 700, total_ms: 720 },
  costs: { total_estimated_cost: 0.000801 },
  confidence: 1,
  preset: spec.panel_name,
  simulated: true,
  ...more,
});

export function finished(poll: { id: string; epoch: number }, more: Partial<FinishedPoll> = {}): FinishedPoll {
  return {
    id: poll.id,
    epoch: poll.epoch,
    votes: [vote(0), vote(1), vote(2, { option: null, error: 'timeout', billed_u: 0 })],
    response: response(),
    ...more,
  };
}

/** After the last connection of others was closed: each reports what it has counted when it ends. */
export async function deadlocks(query: Fixture['query']): Promise<number> {
  await eventually('only this connection is left', async () => {
    const [row] = await query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    return row!.n === 0;
  });
  const [row] = await query<{ n: number }>(
    'select deadlocks::int as n from pg_stat_database where datname = current_database()',
  );
  return row!.n;
}

/** Runs `work` for 0 … count-1, at most `width` at a time. */
export async function together<T>(count: number, width: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next++;
      results[index] = await work(index);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}

/** The id of a key that may spend so much on a day. */
export async function limitedKey(storage: Storage, accountId: string, limitU: bigint): Promise<string> {
  const limit = { limitU, reset: 'daily' as const };
  return (await insertKey(storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_', limit })).id;
}

/** Notes what is sent by `call`, and how many calls began in the turn of the first one. */
export function observed(storage: Storage) {
  const sent: { text: string; values: readonly unknown[] }[] = [];
  const seen = { inFirstTurn: 0 };
  const call: Storage['call'] = (text, values) => {
    if (sent.push({ text, values }) === 1) process.nextTick(() => (seen.inFirstTurn = sent.length));
    return storage.call(text, values);
  };
  return { sent, seen, storage: { ...storage, call } };
}
