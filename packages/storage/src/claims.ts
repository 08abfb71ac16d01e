import type { PollSpec, ServiceTier } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import { gatherBy } from './gather.ts';
import { isOverdue, LEASE_MS, leaseEnd } from './leases.ts';
import type { Queries, Storage } from './open-storage.ts';
import type { ClaimCeiling, SpendCeiling } from './provider-spend.ts';
import { againAfterConflict } from './transaction.ts';

// Claiming a poll to run it. A claim raises the epoch, and only the holder of the newest epoch can finish the poll, so
// a worker that was paused past its lease can do no harm. All times are compared by Postgres.

/**
 * The newest schema version of polls that this code can run. A poll accepted by a later release may need features that
 * are unknown here: it is left to that release's workers until it is overdue, when any worker may end it.
 */
const KNOWN_SCHEMA = 1;

/**
 * Quarantine of poison polls: a poll that lost this many workers is a suspect. A worker runs a limited number of
 * suspects at a time, half as many after each further loss, until a suspect runs alone and only it can be the cause.
 * Running suspects alone from the start would delay harmless ones by minutes after an outage.
 */
export const DEATHS_BEFORE_SUSPECT = 3;
const MAX_SUSPECTS = 16;

/** What a worker gets to run a poll. */
export interface Claim {
  id: string;
  resultId: string;
  /** The account that owns the poll; null for an anonymous poll. */
  accountId: string | null;
  /** The tenant with whose polls it shares slots and places; null if no caller asked for it. */
  tenant: string | null;
  /** The caller waits for the poll to end. */
  isAwaited: boolean;
  epoch: number;
  /** How often the poll was claimed, including this time: shows whether it is a poison poll. */
  claims: number;
  spec: PollSpec;
  schemaVersion: number;
  entryPoint: string;
  requestId: string | null;
  traceparent: string | null;
  /** The roster version for which the poll was selected for an audit; null for most polls. */
  auditVersion: string | null;
  /** The caller canceled the poll: votes that earlier workers received are stored, and no model is asked. */
  isCanceled: boolean;
  createdAt: Date;
  deadlineAt: Date;
  /** Time since the poll was accepted, and below the time until it has to end, by Postgres' clock at the claim. */
  ageMs: number;
  remainingMs: number;
}

/**
 * null if the poll has ended, is unknown, is held by another worker, or has to wait: for other suspects to end, or, if
 * it is claimed again or is a flex poll, until it fits under the ceiling of provider spend.
 */
export async function claimPoll(
  storage: Storage,
  pollId: string,
  worker: string,
  leaseMs = LEASE_MS,
  ceiling?: ClaimCeiling,
): Promise<Claim | null> {
  const claimed = await claimReserved(storage, pollId, worker, leaseMs);
  if (claimed) return claimed;
  const waiting = await waitingPoll(storage, pollId);
  if (waiting === null) return null;
  const terms = { pollId, worker, leaseMs, ceiling: waiting.lane === 'flex' ? flexCeiling(ceiling) : ceiling };
  const claim = waiting.claims >= DEATHS_BEFORE_SUSPECT ? claimSuspect : claimAgain;
  return againAfterConflict(() => claim(storage, terms));
}

interface Wanted {
  pollId: string;
  worker: string;
}

/**
 * Claims wait for row locks of polls, which can be held for seconds. After this time later claims no longer wait too.
 */
const COUNTED_MS = 100;

/** One per process. Claims that arrive while other claims of their worker are in progress are made together. */
export function pollClaimer(
  storage: Storage,
  ceiling?: ClaimCeiling,
  onLost?: (error: unknown) => void,
): (pollId: string, worker: string) => Promise<Claim | null> {
  const gathered = gatherBy(({ worker }: Wanted) => worker, {
    async alone({ pollId, worker }, lost) {
      const claim = await claimPoll(storage, pollId, worker, LEASE_MS, ceiling);
      // The lost call may have claimed the poll. Then it waits until its lease lapses, and the caller knows why.
      if (!claim && lost !== undefined) throw lost;
      return claim;
    },
    together: (wanted) => claimTogether(storage, wanted, flexCeiling(ceiling)),
    onLost,
    max: 16,
    atOnce: 2,
    countedMs: COUNTED_MS,
  });
  return (pollId, worker) => gathered({ pollId, worker });
}

/** For one worker, in one transaction. A poll that is not claimed gets no answer: `claimPoll` then tries it. */
async function claimTogether(
  storage: Storage,
  wanted: readonly Wanted[],
  ceiling: SpendCeiling | undefined,
): Promise<(Claim | undefined)[]> {
  const ids = wanted.map(({ pollId }) => pollId);
  const rows = await storage.call<ClaimRow>(
    `select ${CLAIM_COLUMNS} from claim_several($1::text[], $2, $3, $4, $5, $6::bigint, $7::bigint)`,
    [ids, wanted[0]!.worker, LEASE_MS, KNOWN_SCHEMA, DEATHS_BEFORE_SUSPECT, ...capsOf(ceiling)],
  );
  const claims = new Map(rows.map((row) => [row.id, toClaim(row)]));
  return ids.map((id) => {
    const claim = claims.get(id);
    // If a poll has two jobs, the first one gets it.
    claims.delete(id);
    return claim;
  });
}

/** null if it cannot be claimed, has lost too many workers, or first needs money set aside for its calls. */
async function claimReserved(storage: Storage, pollId: string, worker: string, leaseMs: number): Promise<Claim | null> {
  const values = [pollId, worker, leaseMs, KNOWN_SCHEMA, DEATHS_BEFORE_SUSPECT];
  const [row] = await storage.call<ClaimRow>(
    `select ${CLAIM_COLUMNS} from claim_reserved_poll($1, $2, $3, $4, $5)`,
    values,
  );
  return row ? toClaim(row) : null;
}

/** How often a running poll without a holder was claimed; null for any other poll. */
async function waitingPoll({ db }: Queries, pollId: string): Promise<{ claims: number; lane: ServiceTier } | null> {
  const { rows } = await sql<{ claims: number; lane: ServiceTier }>`
    select claims, lane from polls
     where id = ${pollId} and finished_at is null and (lease_owner is null or lease_until < now())`.execute(db);
  return rows[0] ?? null;
}

const flexCeiling = (ceiling: ClaimCeiling | undefined): SpendCeiling | undefined => ceiling?.flex ?? ceiling;

const capsOf = (ceiling: SpendCeiling | undefined) => [ceiling?.hourU ?? null, ceiling?.dayU ?? null];

/** A flex poll whose maximum cost exceeds this fraction of the ceiling does not keep the others waiting. */
const LARGE_PARTS = 8;

/**
 * How long a flex poll without a holder has to wait for space under the ceiling of provider spend; null if it has
 * space, and for any other poll. For a poll that is large beside the ceiling: how long smaller ones wait.
 */
export async function spendWaitMs(
  { db }: Queries,
  pollId: string,
  ceiling: ClaimCeiling | undefined,
): Promise<number | null> {
  const [hourU, dayU] = capsOf(flexCeiling(ceiling));
  if (hourU === null || dayU === null) return null;
  const { rows } = await sql<{ ms: number | null }>`
    select spend_wait(least(provider_max_u, ${hourU}::bigint / ${LARGE_PARTS}, ${dayU}::bigint / ${LARGE_PARTS}),
                      ${hourU}::bigint, ${dayU}::bigint) * 1000 as ms from polls
     where id = ${pollId} and finished_at is null and lane = 'flex' and provider_max_u > 0
       and (lease_owner is null or lease_until < now())`.execute(db);
  return rows[0]?.ms ?? null;
}

interface AgainTerms {
  pollId: string;
  worker: string;
  leaseMs: number;
  ceiling: SpendCeiling | undefined;
}

/** One statement, because it locks rows of provider spend: a worker that stops between two would keep them locked. */
async function claimAgain(storage: Storage, { pollId, worker, leaseMs, ceiling }: AgainTerms): Promise<Claim | null> {
  const [row] = await storage.call<ClaimRow>(
    `select ${CLAIM_COLUMNS} from claim_poll_again($1, $2, $3, $4, $5, $6::bigint, $7::bigint)`,
    [pollId, worker, leaseMs, KNOWN_SCHEMA, DEATHS_BEFORE_SUSPECT, ...capsOf(ceiling)],
  );
  return row ? toClaim(row) : null;
}

/** Also null if it has to wait for other suspects of this worker to end. */
async function claimSuspect(storage: Storage, { pollId, worker, leaseMs, ceiling }: AgainTerms): Promise<Claim | null> {
  const limits = [DEATHS_BEFORE_SUSPECT, MAX_SUSPECTS, ...capsOf(ceiling)];
  const [row] = await storage.call<ClaimRow>(
    `select ${CLAIM_COLUMNS} from claim_suspect($1, $2, $3, $4, $5, $6, $7::bigint, $8::bigint)`,
    [pollId, worker, leaseMs, KNOWN_SCHEMA, ...limits],
  );
  return row ? toClaim(row) : null;
}

/** Takes an overdue poll from its holder: a worker that hangs cannot keep a poll from ending. */
export async function claimOverdue(
  { db }: Queries,
  pollId: string,
  worker: string,
  graceMs = 0,
): Promise<Claim | null> {
  const { rows } = await sql<ClaimRow>`
    update polls
       set lease_epoch = lease_epoch + 1, lease_owner = ${worker}, claims = claims + 1,
           lease_until = ${leaseEnd(LEASE_MS)}, spend_again_u = coalesce(spend_again_u, 0)
     where id = ${pollId} and finished_at is null and ${isOverdue(graceMs)}
    returning ${claimColumns}`.execute(db);
  return rows[0] ? toClaim(rows[0]) : null;
}

const CLAIM_COLUMNS = `id, result_id, account_id, tenant, awaited, lease_epoch, claims, spec, schema_version, entry_point, request_id,
  traceparent, audit_version, canceled_at is not null as is_canceled, created_at, deadline_at, greatest(0, least(ceil(extract(epoch from now() - created_at) * 1000), 2147483647))::integer as age_ms,
  greatest(0, ceil(extract(epoch from least(deadline_at, run_until) - now()) * 1000))::integer as remaining_ms`;
const claimColumns = sql.raw(CLAIM_COLUMNS);

interface ClaimRow {
  id: string;
  result_id: string;
  account_id: string | null;
  tenant: string | null;
  awaited: boolean;
  lease_epoch: number;
  claims: number;
  spec: PollSpec;
  schema_version: number;
  entry_point: string;
  request_id: string | null;
  traceparent: string | null;
  audit_version: string | null;
  is_canceled: boolean;
  created_at: Date;
  deadline_at: Date;
  age_ms: number;
  remaining_ms: number;
}

function toClaim(row: ClaimRow): Claim {
  return {
    id: row.id,
    resultId: row.result_id,
    accountId: row.account_id,
    tenant: row.tenant,
    isAwaited: row.awaited,
    epoch: row.lease_epoch,
    claims: row.claims,
    spec: row.spec,
    schemaVersion: row.schema_version,
    entryPoint: row.entry_point,
    requestId: row.request_id,
    traceparent: row.traceparent,
    auditVersion: row.audit_version,
    isCanceled: row.is_canceled,
    createdAt: row.created_at,
    deadlineAt: row.deadline_at,
    ageMs: row.age_ms,
    remainingMs: row.remaining_ms,
  };
}
