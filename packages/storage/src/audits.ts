import type { PollSpec, TerminationReason } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';
import { type Selectable, sql } from 'kysely';
import { type HeardAudit, heardOf } from './heard-audit.ts';
import type { Queries, Storage } from './open-storage.ts';
import type { SpendCeiling } from './provider-spend.ts';
import type { AuditsTable } from './tables/audits.ts';
import { repeatable } from './transaction.ts';

// Polls that were drawn to be finished after their answer was delivered. Asking the models that are left is a job with a
// lease; what comes of it is one row.

export interface AuditTerms {
  worker: string;
  leaseMs: number;
  /** Workers that may die of one audit. */
  maxAttempts: number;
  /** What audits may cost per UTC day. */
  dayCapU: bigint;
  /** Audits wait when providers would charge the fleet more than this. */
  ceiling?: SpendCeiling | undefined;
}

/** Money is set aside for it until `finishAudit`. */
export interface ClaimedAudit {
  kind: 'claimed';
  pollId: string;
  epoch: number;
  rosterVersion: string;
  /** Of the roster version. */
  models: string[];
  heard: HeardAudit;
  spec: PollSpec;
}

/** Why an audit is not made: its poll was deleted, a day has passed, or too many workers died of it. */
export const UNMADE_AUDITS = ['deleted', 'expired', 'given_up'] as const;
export type UnmadeAudit = (typeof UNMADE_AUDITS)[number];

/** `capped`: the day's money is spent or set aside, or providers charge the fleet too much as it is. */
export type AuditClaim = ClaimedAudit | { kind: 'none' | 'capped' | UnmadeAudit };

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
  /** What its calls cost us, at most. */
  costU: number;
  /** Null gives the audit up: the calls were not all made. */
  heard: {
    models: readonly string[];
    votes: readonly (number | null)[];
    /** Of the whole panel. */
    winner: number | null;
  } | null;
}

/** `fenced`: a later attempt has it. Safe to repeat. */
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

/** A poll whose whole panel is known. Everything is a number: no text of its question is kept here. */
export interface Audit {
  id: bigint;
  pollId: string;
  rosterVersion: string;
  /** How the poll was asked, which is not what its roster version wants while the gate is shut. */
  askedOrder: AskingOrder;
  threshold: number;
  optionCount: number;
  /** Places in the roster version's models, in the order in which they were heard. */
  seats: number[];
  /** Of each of them: an option, or null for none. Fewer than the panel where a lock made the others irrelevant. */
  votes: (number | null)[];
  /** So many of them were in the answer. */
  stoppedAt: number;
  /** After each of those: the confidence that was said; null without a leader and where it is not known. */
  said: (number | null)[];
  reason: TerminationReason | null;
  /** What the whole panel elected; null for a tie. */
  winner: number | null;
  costU: bigint;
  createdAt: Date;
}

/** In the order in which they came, from the one after `after`. */
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
