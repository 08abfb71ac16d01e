import type { Metadata, NotRunReason, PollSpec } from '@eloquentpoll/contracts';
import { deadlineMsOf, laneOf, type PollOrder, runLimitMsOf } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries, Storage } from './open-storage.ts';
import { repeatable } from './transaction.ts';

// What a batch's runner does with it. One process at a time has a batch; its epoch fences earlier runners.

export interface ClaimedBatch {
  id: string;
  accountId: string;
  epoch: number;
}

/**
 * Claims batches without a runner or with an expired runner lease: first for accounts with the fewest batches in
 * progress, then those without a runner for longest.
 */
export async function claimBatches(
  { db }: Queries,
  owner: string,
  leaseMs: number,
  limit: number,
): Promise<ClaimedBatch[]> {
  const { rows } = await sql<ClaimedBatch>`
    with unended as materialized (
      select id, account_id, runner_until, runner_until <= now() as is_free
        from batches where status in ('running', 'canceling')
    ), turns as (
      select id, is_free, row_number() over (partition by account_id order by is_free, runner_until, id) as turn from unended
    )
    update batches b
       set runner_owner = ${owner}, runner_epoch = runner_epoch + 1,
           runner_until = now() + ${leaseMs} * interval '1 millisecond'
      from (select b.id from turns join batches b using (id)
             where is_free and b.status in ('running', 'canceling') and b.runner_until <= now()
             order by turn, b.runner_until limit ${limit} for update of b skip locked) free
     where b.id = free.id
    returning b.id, account_id as "accountId", runner_epoch as epoch`.execute(db);
  return rows;
}

/** Number of batches without a runner, counted up to `atMost`. */
export async function countUnattendedBatches({ db }: Queries, atMost: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
      from (select from batches where status in ('running', 'canceling') and runner_until <= now() limit ${atMost}) free`.execute(
    db,
  );
  return rows[0]!.count;
}

/** The state of a batch, as its runner needs it. */
export interface RunnersBatch {
  status: 'running' | 'canceling';
  /** Rows that wait; `running` counts polls. */
  waiting: number;
  running: number;
  reservedU: bigint;
  /** By the clock of Postgres. */
  isExpired: boolean;
}

/**
 * Extends the lease of a batch by `leaseMs`, or gives it back with 0. Null if the batch has ended or another runner has
 * it. A batch that operators hold back is not counted as idle.
 */
export async function renewBatch(
  { db }: Queries,
  { id, epoch }: Pick<ClaimedBatch, 'id' | 'epoch'>,
  leaseMs: number,
  isHeldBack = false,
): Promise<RunnersBatch | null> {
  const { rows } = await sql<RunnersBatch>`
    update batches
       set runner_until = now() + ${leaseMs} * interval '1 millisecond',
           moved_at = case when ${isHeldBack} then now() else moved_at end
     where id = ${id} and runner_epoch = ${epoch} and status in ('running', 'canceling')
    returning status, running, reserved_u as "reservedU", expires_at <= now() as "isExpired",
              total - running - succeeded - partial - failed - canceled as waiting`.execute(db);
  return rows[0] ?? null;
}

export interface WaitingRow {
  line: number;
  order: PollOrder;
}

/** Rows after `afterLine` that have no poll yet, in the order of their lines. */
export async function waitingRows(
  { db }: Queries,
  batchId: string,
  afterLine: number,
  limit: number,
): Promise<WaitingRow[]> {
  const rows = await db
    .selectFrom('batch_rows')
    .select(['line', 'request as order'])
    .where('batch_id', '=', batchId)
    .where('line', '>', afterLine)
    .where('outcome', 'is', null)
    .where('poll_id', 'is', null)
    .orderBy('line')
    .limit(limit)
    .execute();
  return rows.map(({ line, order }) => ({ line, order: order! }));
}

/**
 * Counts all of the account's flex polls, also those outside batches. Beyond this the exact number makes no difference.
 */
const MAX_COUNTED = 20_000;

/** How many flex polls of an account wait for a worker. */
export async function waitingFlexPolls({ db }: Queries, accountId: string): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`
    select count(*)::integer as waiting
      from (select from polls where tenant = ${accountId} and lane = 'flex' and status = 'running' and lease_owner is null
             limit ${MAX_COUNTED}) w`.execute(db);
  return rows[0]!.waiting;
}

/** Polls of a batch that have not ended, in the order of their lines. */
export async function runningPollsOfBatch({ db }: Queries, batchId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('batch_rows')
    .select('poll_id')
    .where('batch_id', '=', batchId)
    .where('outcome', 'is', null)
    .where('poll_id', 'is not', null)
    .orderBy('line')
    .limit(limit)
    .execute();
  return rows.map(({ poll_id }) => poll_id!);
}

export interface NewBatchPoll {
  line: number;
  id: string;
  resultId: string;
  spec: PollSpec;
  holdU: bigint;
  providerMaxU: number;
  auditVersion?: string | undefined;
  auditQuestion?: string | undefined;
  metadata?: Metadata | undefined;
  /** Where the event of its end is sent. */
  webhookUrl?: string | undefined;
  requestId?: string | undefined;
  traceparent?: string | undefined;
}

export interface BatchPolls {
  batchId: string;
  epoch: number;
  /** The operation of these polls, as named in metrics and history. */
  entryPoint: string;
  polls: readonly NewBatchPoll[];
}

export type BatchRowAnswer =
  | { line: number; outcome: 'accepted'; pollId: string }
  | {
      line: number;
      /** `over`: the batch has ended. */
      outcome: 'ended' | 'uncovered' | 'stopped' | 'frozen' | 'fenced' | 'canceled' | 'expired' | 'over';
    };

/** One answer per poll; see accept_batch_polls. Safe to repeat with the same ids. */
export const acceptBatchPolls = (
  { db }: Storage,
  { batchId, epoch, entryPoint, polls }: BatchPolls,
): Promise<BatchRowAnswer[]> =>
  repeatable(async () => {
    const request = JSON.stringify({
      batch_id: batchId,
      epoch,
      polls: polls.map((poll) => ({
        line: poll.line,
        id: poll.id,
        result_id: poll.resultId,
        spec: poll.spec,
        hold_u: String(poll.holdU > 1n ? poll.holdU : 1n),
        provider_max_u: poll.providerMaxU,
        deadline_ms: deadlineMsOf(poll.spec),
        lane: laneOf(poll.spec),
        run_limit_ms: runLimitMsOf(poll.spec) ?? null,
        audit_version: poll.auditVersion ?? null,
        audit_question: poll.auditQuestion ?? null,
        entry_point: entryPoint,
        request_id: poll.requestId ?? null,
        traceparent: poll.traceparent ?? null,
        webhook_url: poll.webhookUrl ?? null,
        ...(poll.metadata && { metadata: poll.metadata }),
      })),
    });
    const { rows } = await sql<{
      line: number;
      outcome: BatchRowAnswer['outcome'];
      poll_id: string | null;
    }>`select * from accept_batch_polls(${request}::jsonb) order by line`.execute(db);
    return rows.map(
      ({ line, outcome, poll_id }): BatchRowAnswer =>
        outcome === 'accepted' ? { line, outcome, pollId: poll_id! } : { line, outcome },
    );
  });

type Fenced = Pick<ClaimedBatch, 'id' | 'epoch'>;

/** Ends rows that cannot become polls; `error` is a code of the catalogue. False if another runner has the batch. */
export const failBatchRows = (
  { db }: Storage,
  { id, epoch }: Fenced,
  lines: readonly number[],
  error: string,
): Promise<boolean> =>
  repeatable(async () => {
    const { rows } = await sql<{ done: boolean }>`
      select fail_batch_rows(${id}, ${epoch}, ${[...lines]}::integer[], ${error}) as done`.execute(db);
    return rows[0]!.done;
  });

export type BatchEnding = 'ended_now' | 'ended' | 'running' | 'waiting' | 'fenced';

/** `reason`: why the waiting rows are not run; null if none waits. See end_batch. */
export const endBatch = ({ db }: Storage, { id, epoch }: Fenced, reason: NotRunReason | null): Promise<BatchEnding> =>
  repeatable(async () => {
    const { rows } = await sql<{ ending: BatchEnding }>`
      select end_batch(${id}, ${epoch}, ${reason}) as ending`.execute(db);
    return rows[0]!.ending;
  });
