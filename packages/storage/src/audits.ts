import type { PollSpec, TerminationReason } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';
import { type Selectable, sql } from 'kysely';
import { type HeardAudit, heardOf } from './heard-audit.ts';
import type { Queries, Storage } from './open-storage.ts';
import type { SpendCeiling } from './provider-spend.ts';
import type { AuditsTable } from './tables/audits.ts';
import { repeatable } from './transaction.ts';

// Polls that were selected to be completed after their answer was delivered. Asking the remaining models is a job with
// a lease; its outcome is one row.

export interface AuditTerms {
  worker: string;
  leaseMs: number;
  /** An audit is given up after this many attempts. */
  maxAttempts: number;
  /** The maximum that audits may cost per UTC day. */
  dayCapU: bigint;
  /** Audits wait while they could take the fleet's spend above this. */
  ceiling?: SpendCeiling | undefined;
}

/** Money is set aside for the audit until `finishAudit`. */
export interface ClaimedAudit {
  kind: 'claimed';
  pollId: string;
  epoch: number;
  rosterVersion: string;
  /** The models of the roster version. */
  models: string[];
  heard: HeardAudit;
  spec: PollSpec;
}

/** Why an audit is not made: its poll was deleted, a day has passed, or too many workers died while running it. */
export const UNMADE_AUDITS = ['deleted', 'expired', 'given_up'] as const;
export type UnmadeAudit = (typeof UNMADE_AUDITS)[number];

/** `stored`: no more votes were needed. `capped`: today's money for audits is spent or set aside, or providers already charge the fleet too much. */
export type AuditClaim = ClaimedAudit | { kind: 'none' | 'stored' | 'capped' | UnmadeAudit };

export async function claimAudit({ db }: Storage, terms: AuditTerms): Promise<AuditClaim> {
  const { worker, leaseMs, maxAttempts, dayCapU, ceiling } = terms;
  const request = JSON.stringify({
    worker,
    lease_ms: leaseMs,
    max_attempts: maxAttempts,
    day_cap_u: String(dayCapU),
    ...(ceiling && { hour_spend_u: String(ceiling.hourU), day_spend_u: String(ceiling.dayU) }),
  });
  const { rows } = await sql<ClaimRow>`select * from claim_audit(${request}::jsonb)`.execute(db);
  const row = rows[0]!;
  if (row.outcome !== 'claimed') return { kind: row.outcome };
  return {
    kind: 'claimed',
    pollId: row.poll_id,
    epoch: row.epoch,
    rosterVersion: row.roster_version,
    models: row.panel_models,
    heard: heardOf(row.heard),
    spec: row.spec,
  };
}

interface ClaimRow {
  outcome: AuditClaim['kind'];
  poll_id: string;
  epoch: number;
  roster_version: string;
  panel_models: string[];
  heard: Parameters<typeof heardOf>[0];
  spec: PollSpec;
}

export interface FinishedAudit {
  pollId: string;
  epoch: number;
  /** The maximum that its calls can have cost us. */
  costU: number;
  /** Null gives the audit up: the calls were not all made. */
  heard: {
    models: readonly string[];
    votes: readonly (number | null)[];
    /** Winner of the whole panel. */
    winner: number | null;
  } | null;
}

/** `fenced`: a later attempt has claimed the audit. Safe to repeat. */
export async function finishAudit(
  { db }: Storage,
  { pollId, epoch, costU, heard }: FinishedAudit,
): Promise<'stored' | 'deleted' | 'dropped' | 'fenced'> {
  const request = JSON.stringify({ poll_id: pollId, epoch, cost_u: costU, ...(heard ?? { drop: true }) });
  const { rows } = await repeatable(() =>
    sql<{ outcome: 'stored' | 'deleted' | 'dropped' | 'fenced' }>`
      select finish_audit(${request}::jsonb) as outcome`.execute(db),
  );
  return rows[0]!.outcome;
}

/** A poll whose full panel has answered, or whose other models cannot matter. Only numbers: no text of its question. */
export interface Audit {
  id: bigint;
  pollId: string;
  rosterVersion: string;
  /** The order in which the poll was asked. While the gate is shut it differs from the order of its roster version. */
  askedOrder: AskingOrder;
  threshold: number;
  optionCount: number;
  /** Positions in the roster version's list of models, in the order in which the models answered. */
  seats: number[];
  /**
   * One entry per seat: an option, or null for none. Shorter than the panel if a lock made the other models irrelevant.
   */
  votes: (number | null)[];
  /** How many of these votes were in the delivered answer. */
  stoppedAt: number;
  /** The confidence stated after each of those votes; null without a leader, or if not known. */
  said: (number | null)[];
  reason: TerminationReason | null;
  /** What the full panel elected; null for a tie. */
  winner: number | null;
  costU: bigint;
  createdAt: Date;
}

/** In the order in which they were stored, starting after id `after`. */
export async function readAudits(
  { db }: Queries,
  { rosterVersion, after = 0n, limit = 5_000 }: { rosterVersion: string; after?: bigint; limit?: number },
): Promise<Audit[]> {
  const rows = await db
    .selectFrom('audits')
    .selectAll()
    .where('roster_version', '=', rosterVersion)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toAudit);
}

export const toAudit = (row: Selectable<AuditsTable>): Audit => ({
  id: row.id,
  pollId: row.poll_id,
  rosterVersion: row.roster_version,
  askedOrder: row.asked_order,
  threshold: row.threshold,
  optionCount: row.option_count,
  seats: row.seats,
  votes: row.votes,
  stoppedAt: row.stopped_at,
  said: row.said,
  reason: row.reason,
  winner: row.winner,
  costU: row.cost_u,
  createdAt: row.created_at,
});
