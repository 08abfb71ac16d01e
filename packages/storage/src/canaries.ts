import type { TestHistory, TestKind, Trials } from '@eloquentpoll/evidence';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import type { SpendCeiling } from './provider-spend.ts';

// Tests of models with questions of known answer: when the next test is due, how tests ended, and which models are
// taken out of their panels because they failed.

export interface CanaryTerms {
  /** The models of the roster file, with the maximum that a test can cost. */
  models: readonly { readonly modelId: string; readonly maxU: bigint }[];
  everyMs: number;
  /** Interval for a model that is taken out of its panels. */
  failedEveryMs: number;
  /** The maximum that tests may cost per UTC day. */
  dayCapU: bigint;
  /** Tests wait while they could take the fleet's spend above this. */
  ceiling?: SpendCeiling | undefined;
}

export interface ClaimedCanary {
  modelId: string;
  /** Number of the test within the day. */
  number: number;
  /** The kind of test that caused the model to be taken out of its panels. */
  failed: TestKind | null;
  claimedAt: Date;
  spendShard: number | null;
}

/** Null if no test is due or none may be paid for. */
export async function claimCanary({ db }: Storage, terms: CanaryTerms): Promise<ClaimedCanary | null> {
  const { models, everyMs, failedEveryMs, dayCapU, ceiling } = terms;
  const request = JSON.stringify({
    models: models.map(({ modelId, maxU }) => ({ id: modelId, max_u: String(maxU) })),
    every_ms: everyMs,
    failed_every_ms: failedEveryMs,
    day_cap_u: String(dayCapU),
    ...(ceiling && { hour_spend_u: String(ceiling.hourU), day_spend_u: String(ceiling.dayU) }),
  });
  const { rows } = await sql<ClaimedCanary>`
    select model_id as "modelId", number, failed, claimed_at as "claimedAt", spend_shard as "spendShard"
      from claim_canary(${request}::jsonb)`.execute(db);
  return rows[0] ?? null;
}

export interface FinishedCanary extends Pick<ClaimedCanary, 'modelId' | 'claimedAt' | 'spendShard'> {
  kind: TestKind;
  /** Null if the model did not answer: that says nothing about its quality. */
  passed: boolean | null;
  maxU: bigint;
  costU: bigint;
}

export async function finishCanary({ db }: Storage, canary: FinishedCanary): Promise<void> {
  const { modelId, kind, passed, claimedAt, maxU, costU, spendShard } = canary;
  const request = JSON.stringify({
    model_id: modelId,
    kind,
    passed,
    claimed_at: claimedAt.toISOString(),
    max_u: String(maxU),
    cost_u: String(costU),
    spend_shard: spendShard,
  });
  await sql`select finish_canary(${request}::jsonb)`.execute(db);
}

export interface ModelStanding {
  modelId: string;
  /** Which kind of test took the model out of its panels, and when; null while it is in them. */
  failed: { kind: TestKind; at: Date; passes: number } | null;
  /** Tests since the model last came back, by UTC day, oldest first. */
  history: TestHistory;
  /** How often it came back in the time of which tests are kept. */
  recentReturns: number;
}

export async function readModelStanding({ db }: Queries, modelId: string): Promise<ModelStanding | null> {
  const standing = await db
    .selectFrom('model_standings')
    .selectAll()
    .where('model_id', '=', modelId)
    .executeTakeFirst();
  if (!standing) return null;
  const { rows } = await sql<{ kind: TestKind; returns: number; tests: number; failures: number }>`
    select kind, returns, tests, failures from canary_results where model_id = ${modelId} order by day`.execute(db);
  const byKind = Map.groupBy(
    rows.filter(({ returns }) => returns === standing.returns),
    ({ kind }) => kind,
  );
  const earlier = new Set(rows.flatMap(({ returns }) => (returns < standing.returns ? [returns] : [])));
  const history: TestHistory = Object.fromEntries(
    [...byKind].map(([kind, days]) => [
      kind,
      days.map(({ tests, failures }): Trials => ({ trials: tests, hits: failures })),
    ]),
  );
  const { failed, failed_at: at, passes } = standing;
  return {
    ...{ modelId, history, recentReturns: earlier.size },
    failed: failed === null ? null : { kind: failed as TestKind, at: at!, passes },
  };
}

/** A model that is taken out of its panels. */
export interface FailedModel {
  modelId: string;
  kind: TestKind;
  at: Date;
}

export async function readFailedModels({ db }: Queries): Promise<FailedModel[]> {
  const rows = await db
    .selectFrom('model_standings')
    .select(['model_id', 'failed', 'failed_at'])
    .where('failed', 'is not', null)
    .execute();
  return rows.map((row) => ({ modelId: row.model_id, kind: row.failed as TestKind, at: row.failed_at! }));
}

/** False if it was out already. */
export async function takeModelOut({ db }: Queries, modelId: string, kind: TestKind): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('model_standings')
    .set({ failed: kind, failed_at: sql`now()`, passes: 0 })
    .where('model_id', '=', modelId)
    .where('failed', 'is', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Its tests are counted from zero again. False if it was not out. */
export async function bringModelBack({ db }: Queries, modelId: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('model_standings')
    .set((row) => ({ failed: null, failed_at: null, passes: 0, returns: row('returns', '+', 1) }))
    .where('model_id', '=', modelId)
    .where('failed', 'is not', null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
