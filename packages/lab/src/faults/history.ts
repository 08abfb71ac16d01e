import { readJson } from '@eloquentpoll/services/json';
import { checkLedger, FREE_POOL, type LedgerViolation, readProviderSpend } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { type Election, electionIn } from '../fixture/election.ts';
import type { ModelExchange } from '../fixture/simulators.ts';
import type { Stores } from '../fixture/stores.ts';
import type { AuditHistory } from './audited.ts';
import type { NeighbourHistory } from './beside-flood.ts';
import type { Fault } from './fault-kinds.ts';
import type { Arrival, BalanceState, Observer, PollEvent, Rewrite } from './observer.ts';
import { digestOf, type RecordedOperation } from './operations.ts';
import type { PromisedHistory } from './promised.ts';
import type { UpgradeHistory } from './releases/upgrade-history.ts';
import type { PoolUse } from './watch-pooler.ts';

// Everything that the rules judge: what callers, Postgres, Redis and the models saw, and the injected faults.

export interface StoredPoll {
  id: string;
  resultId: string;
  /** Null for a free poll, and after the poll was emptied. */
  accountId: string | null;
  /** The poll was deleted: only ids and numbers are left. */
  isEmptied: boolean;
  /** Whose money was held for it: also known after it was emptied. */
  payerId: string | null;
  status: string;
  entryPoint: string;
  /** The preset, and the service tier: they decide its price. */
  panel: string;
  lane: string;
  claims: number;
  buried: boolean;
  /** By our clock. */
  createdAt: number;
  /** When its maximum cost was reserved: at acceptance, or for a flex poll at its first claim. */
  spendAt: number;
  deadlineAt: number;
  finishedAt: number | null;
  maxCostU: bigint;
  holdU: bigint;
  holds: number;
  posts: number;
  voids: number;
  postedU: bigint;
  /** The part of it that the free pool paid for calls without a vote. */
  unvotedU: bigint;
  /** One per seat. */
  modelIds: readonly string[];
  resultStatus: string | null;
  /** Null after the poll was emptied. */
  options: readonly string[] | null;
  /** The election in the stored response, and the same facts in the row of the result. */
  election: Election | null;
  /** Of the stored response. */
  confidence: number | null;
  resultRow: { winner: string | null; isTie: boolean } | null;
  /** Digest of the stored response. */
  digest: string | null;
  /** The batch row that it answers, as `batch line`; null if it belongs to no batch. */
  row: string | null;
}

export interface BatchRecord {
  id: string;
  status: string;
  total: number;
  /** Rows that have an outcome or were not run. */
  ended: number;
  costU: bigint;
  reservedU: bigint;
}

export interface BilledVote {
  pollId: string;
  seat: number;
  modelId: string;
  /** Index of the option; null if the model gave no vote. */
  option: number | null;
  billedU: bigint;
  /** The maximum billed for a failed vote: in free polls what its calls can have cost, otherwise 0. */
  failedMaxU: bigint;
}

export interface KeyRow {
  key: string;
  pollId: string;
}

export interface CampaignHistory {
  operations: readonly RecordedOperation[];
  polls: readonly StoredPoll[];
  batches: readonly BatchRecord[];
  keys: readonly KeyRow[];
  votes: readonly BilledVote[];
  journal: readonly PollEvent[];
  balances: readonly BalanceState[];
  rewrites: readonly Rewrite[];
  arrivals: readonly Arrival[];
  ledger: readonly LedgerViolation[];
  /** The provider spend that the service counts for the present hour, after everything has ended. */
  countedSpendU: bigint;
  calls: readonly ModelExchange[];
  faults: readonly Fault[];
  /** Error codes that the campaign provokes on purpose. */
  mayRefuse: readonly string[];
  /** Processes that ended without an injected fault. */
  crashes: readonly string[];
  /** Null without a pooler. */
  pooled: PoolUse | null;
  /** Null if there is only one release. */
  upgrade: UpgradeHistory | null;
  /** Null if the campaign has no webhooks, receipts, key limits and deletions. */
  promised: PromisedHistory | null;
  /** Null if the campaign has no audits. */
  audits: AuditHistory | null;
  /** Null if no account floods. */
  neighbours: NeighbourHistory | null;
}

type Seen = Pick<
  CampaignHistory,
  | 'operations'
  | 'calls'
  | 'faults'
  | 'mayRefuse'
  | 'crashes'
  | 'pooled'
  | 'upgrade'
  | 'promised'
  | 'audits'
  | 'neighbours'
>;

const Texts = Type.Array(Type.String());

export async function readCampaignHistory(stores: Stores, observer: Observer, seen: Seen): Promise<CampaignHistory> {
  const { query } = stores;
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
  const polls = await query<Record<string, string | number | boolean | null>>(`
    select p.id, p.result_id, p.account_id, not p.spec ? 'question' as emptied, p.status, p.entry_point, p.spec ->> 'panel_name' as panel, p.lane, p.claims, p.spec ->> 'max_cost_u' as max_cost_u,
           jsonb_path_query_array(p.spec, '$.seats[*].model_id')::text as model_ids,
           ${ms('p.created_at')} as created_ms, ${ms('coalesce(p.spend_at, p.created_at)')} as spend_ms, ${ms('p.deadline_at')} as deadline_ms,
           ${ms('p.finished_at')} as finished_ms, r.status as result_status, r.detail::text as detail,
           p.spec ->> 'options' as options, r.winning_option, r.is_tie,
           p.batch_id || ' ' || p.batch_line as row,
           exists (select from dead_letters d where d.poll_id = p.id) as buried,
           p.unvoted_u::text as unvoted_u, t.payer, t.hold_u, t.holds, t.posts, t.voids, t.posted_u
      from polls p left join results r on r.poll_id = p.id left join lateral (
        select min(debit::text) filter (where kind = 'hold') as payer,
               coalesce(sum(amount_u) filter (where kind = 'hold'), 0)::text as hold_u,
               (count(*) filter (where kind = 'hold'))::integer as holds,
               (count(*) filter (where kind = 'post'))::integer as posts,
               (count(*) filter (where kind = 'void'))::integer as voids,
               coalesce(sum(amount_u) filter (where kind = 'post'), 0)::text as posted_u
          from transfers where poll_id = p.id) t on true`);
  const votes = await query<{
    poll_id: string;
    seat: number;
    model_id: string;
    option: number | null;
    billed_u: string;
    failed_max_u: string;
  }>(
    `
    select v.poll_id, v.seat, v.model_id, v.option, v.billed_u,
           case when h.debit = $1 then v.max_cost_u else 0 end::text as failed_max_u
      from votes v join transfers h on h.idem = 'hold:' || v.poll_id`,
    [FREE_POOL],
  );
  const batches = await query<{
    id: string;
    status: string;
    total: number;
    ended: number;
    cost_u: string;
    reserved_u: string;
  }>(`
    select id, status, total, succeeded + partial + failed + canceled + not_run as ended, cost_u::text, reserved_u::text
      from batches where status not in ('loading', 'deleted')`);
  const keys = await query<{ key: string; poll_id: string }>(
    'select key, poll_id from idempotency where poll_id is not null',
  );
  return {
    ...seen,
    polls: polls.map((row) => ({
      id: String(row.id),
      resultId: String(row.result_id),
      accountId: row.account_id === null ? null : String(row.account_id),
      isEmptied: row.emptied === true,
      payerId: row.payer === null ? null : String(row.payer),
      status: String(row.status),
      entryPoint: String(row.entry_point),
      panel: String(row.panel),
      lane: String(row.lane),
      claims: Number(row.claims),
      buried: row.buried === true,
      createdAt: observer.ours(Number(row.created_ms)),
      spendAt: observer.ours(Number(row.spend_ms)),
      deadlineAt: observer.ours(Number(row.deadline_ms)),
      finishedAt: row.finished_ms === null ? null : observer.ours(Number(row.finished_ms)),
      maxCostU: BigInt(String(row.max_cost_u)),
      holdU: BigInt(String(row.hold_u)),
      holds: Number(row.holds),
      posts: Number(row.posts),
      voids: Number(row.voids),
      postedU: BigInt(String(row.posted_u)),
      unvotedU: BigInt(String(row.unvoted_u)),
      modelIds: readJson(Texts, String(row.model_ids)),
      resultStatus: row.result_status === null ? null : String(row.result_status),
      options: row.options === null ? null : readJson(Texts, String(row.options)),
      election: row.detail === null ? null : electionIn(JSON.parse(String(row.detail))),
      confidence: row.detail === null ? null : confidenceIn(JSON.parse(String(row.detail))),
      resultRow:
        row.result_status === null
          ? null
          : {
              winner: row.winning_option === null ? null : String(row.winning_option),
              isTie: row.is_tie === true,
            },
      digest: row.detail === null ? null : digestOf(answerIn(String(row.detail))),
      row: row.row === null ? null : String(row.row),
    })),
    batches: batches.map(({ id, status, total, ended, cost_u, reserved_u }) => ({
      ...{ id, status, total, ended },
      ...{ costU: BigInt(cost_u), reservedU: BigInt(reserved_u) },
    })),
    votes: votes.map(({ poll_id, seat, model_id, option, billed_u, failed_max_u }) => ({
      pollId: poll_id,
      seat,
      modelId: model_id,
      option,
      billedU: BigInt(billed_u),
      failedMaxU: BigInt(failed_max_u),
    })),
    keys: keys.map(({ key, poll_id }) => ({ key, pollId: poll_id })),
    ...(await observer.read()),
    arrivals: observer.arrivals,
    ledger: await checkLedger(stores.storage),
    countedSpendU: (await readProviderSpend(stores.storage)).hourU,
  };
}

/** Callers do not get the mark of a canceled poll, which is stored after its answer. */
const Stated = Type.Object({ confidence: Type.Number() });
const confidenceIn = (stored: unknown): number | null => (Value.Check(Stated, stored) ? stored.confidence : null);
const answerIn = (stored: string): string => stored.replace(/,"canceled":true\}$/, '}');
