import { setTimeout as sleep } from 'node:timers/promises';
import { openStorage } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import { wholeLedgerViolations } from '../fixture/whole-ledger.ts';
import type { SendCall } from './call.ts';
import { type DayUser, inMicroUsd } from './day-user.ts';
import type { Diary } from './diary.ts';
import type { Receiver } from './receiver.ts';
import type { DayService } from './service.ts';
import type { Query } from './timeline.ts';

// Checks at the end of the day: account balances against the answers, the ledger's own check, missing webhooks, and
// unfinished work.

export interface EndOfDay {
  readonly accounts: number;
  /** What all accounts were charged according to their answers, in micro-USD. */
  readonly chargedU: number;
  readonly running: number;
  /** Balances that still have money on hold. */
  readonly openHolds: number;
  readonly violations: readonly string[];
  /** Transactions that Postgres ended because they waited for each other; the service repeats them. */
  readonly deadlocks: number;
  readonly webhooks: ReturnType<Receiver['figures']>;
  readonly audits: number;
  readonly batches: number;
  readonly polls: number;
  readonly stopped: readonly StoppedCalls[];
}

/**
 * What calls aborted by early stops cost, out of everything that providers charged for polls of this panel and lane.
 */
export interface StoppedCalls {
  readonly panel: string;
  readonly lane: string;
  readonly polls: number;
  readonly costU: number;
  readonly stoppedU: number;
}

export interface EndOfDayOptions {
  service: DayService;
  query: Query;
  people: readonly DayUser[];
  receiver: Receiver;
  diary: Diary;
  call: SendCall;
}

const QUIET_WITHIN_MS = 120_000;
const LEFT = `select (select count(*)::int from polls where status = 'running') as running,
  (select count(*)::int from balances where held_u <> 0 or reserved_u <> 0) as holds, (select count(*)::int from polls) as polls,
  (select count(*)::int from batches) as batches, (select count(*)::int from audits) as audits,
  (select deadlocks::int from pg_stat_database where datname = current_database()) as deadlocks`;

const STOPPED = `select spec ->> 'panel_name' as panel, lane, count(*)::int as polls,
    sum(provider_cost_u)::float as "costU", sum(aborted_cost_u)::float as "stoppedU"
  from polls where status = 'completed' and canceled_at is null and spec ->> 'panel_name' is not null group by 1, 2 order by 1, 2`;

export async function closeDay({ service, query, people, receiver, diary, call }: EndOfDayOptions): Promise<EndOfDay> {
  const until = performance.now() + QUIET_WITHIN_MS;
  let [left] = await query<Left>(LEFT);
  while (performance.now() < until && (left!.running > 0 || left!.holds > 0 || receiver.figures().missing.length > 0)) {
    await sleep(500);
    [left] = await query<Left>(LEFT);
  }
  receiver.settle();
  for (const person of people) await judgeBalance(person, call, diary);
  return {
    accounts: people.length,
    chargedU: people.reduce((sum, { chargedU }) => sum + chargedU, 0),
    running: left!.running,
    openHolds: left!.holds,
    violations: await ledgerViolations(service.databaseUrl),
    deadlocks: left!.deadlocks,
    webhooks: receiver.figures(),
    audits: left!.audits,
    batches: left!.batches,
    polls: left!.polls,
    stopped: await query<StoppedCalls>(STOPPED),
  };
}

interface Left {
  running: number;
  holds: number;
  polls: number;
  batches: number;
  audits: number;
  deadlocks: number;
}

const UsageBalance = Type.Object({
  available_usd: Type.Number(),
  reserved_usd: Type.Number(),
  used_usd: Type.Number(),
});

/** The balance must equal the payments minus the costs in the answers, to the micro-USD. */
async function judgeBalance(person: DayUser, call: SendCall, diary: Diary): Promise<void> {
  const way = 'final balance';
  const balance = await call({ way, path: '/api/usage/balance', by: person });
  if (!balance.isExpected) return;
  const { available_usd, reserved_usd, used_usd } = balance.read(UsageBalance);
  const expectedU = person.creditedU - person.chargedU;
  const foundU = inMicroUsd(available_usd) + inMicroUsd(reserved_usd);
  const usedU = inMicroUsd(used_usd);
  diary.judge(way, [
    ...(foundU === expectedU ? [] : [`${person.name} has ${foundU} micro-USD, by its answers ${expectedU}`]),
    ...(usedU === person.chargedU ? [] : [`${person.name} used ${usedU} micro-USD, by its answers ${person.chargedU}`]),
    ...(reserved_usd === 0 ? [] : [`${person.name} still has ${reserved_usd} USD reserved`]),
  ]);
}

async function ledgerViolations(databaseUrl: string): Promise<string[]> {
  await using storage = openStorage({
    databaseUrl,
    maxConnections: 1,
    connectTimeoutMs: 10_000,
    statementTimeoutMs: 120_000,
  });
  const violations = await wholeLedgerViolations(storage);
  return violations.map(({ rule, subject, found }) => `${rule}: ${subject}: ${found}`);
}
