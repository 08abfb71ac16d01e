import { FREE_PRESETS, type ResultStatus } from '@eloquentpoll/contracts';
import { pollIdsSince } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import { type ModelAgreement, readModelAgreement } from './model-agreement.ts';
import type { Queries } from './open-storage.ts';

// How polls and each model in them did. Free polls and single accounts cannot distort the figures: free polls are a
// bounded part of the window, and opinions count of accounts about polls that they paid for. Only the newest polls are
// counted, by index and up to a limit, so the cost does not grow with the stored data. No text is read.

export interface ReputationRequest {
  /** Polls of simulated models or polls of real models; never both in one figure. */
  simulated: boolean;
  days?: number;
  mostPolls?: number;
}

export interface StoredReputation {
  /** Start of the window. It is later than `days` ago if more polls were run than are counted. */
  from: Date;
  to: Date;
  /** `failed` includes polls that were given up. */
  polls: Record<ResultStatus, number>;
  /** For polls with an answer. */
  latencyMs: { average: number; p50: number; p95: number } | null;
  /** For polls with an answer that their caller paid for, in micro-USD. */
  costU: { average: number; median: number } | null;
  earlyTerminated: number;
  feedback: OwnersFeedback;
  models: StoredModelReputation[];
}

/** What accounts said about the polls that they paid for. */
export interface OwnersFeedback {
  total: number;
  correct: number;
  incorrect: number;
  /** Accounts that said of a poll whether it was right. */
  accounts: number;
  /** The sum over these accounts of the share that was right, so that one account counts as much as another. */
  rightAccounts: number;
}

export interface StoredModelReputation extends ModelAgreement {
  /** Without calls that a poll aborted, which say nothing about the model. */
  asked: number;
  votes: number;
  averageLatencyMs: number | null;
  p95LatencyMs: number | null;
  averageCostU: number | null;
  lastVoteAt: Date | null;
}

export const REPUTATION_DAYS = 30;
export const REPUTATION_POLLS = 10_000;
/** Free polls are added, at most one for this many paid ones. */
const PAID_PER_FREE = 5;
const MAX_OPINIONS = 20;

/** Each kind has an index of its own, which the planner chooses only if the names are literals. */
export const IS_FREE = sql.raw(`panel_name in (${FREE_PRESETS.map((name) => `'${name}'`).join(', ')})`);

const newestPolls = (since: RawBuilder<unknown>, sinceId: string, mostPolls: number) => sql`
  (select * from results where not ${IS_FREE} and poll_id >= ${sinceId} and created_at >= ${since} order by created_at desc limit ${mostPolls})
  union all
  (select * from results where ${IS_FREE} and poll_id >= ${sinceId} and created_at >= ${since}
    order by created_at desc limit ${Math.ceil(mostPolls / PAID_PER_FREE)})`;

export async function readReputation({ db }: Queries, request: ReputationRequest): Promise<StoredReputation> {
  const { simulated, days = REPUTATION_DAYS, mostPolls = REPUTATION_POLLS } = request;
  // Polls may have been accepted a day before they ended.
  const sinceId = pollIdsSince(new Date(Date.now() - (days + 1) * 86_400_000));
  const { rows } = await sql<Row>`
    with newest as materialized (
      select poll_id, account_id, status, panel_name, simulated, early_terminated, total_cost_u, total_ms, created_at
        from (${newestPolls(sql`now() - ${days} * interval '1 day'`, sinceId, mostPolls)}) of_both_kinds
    ),
    span as (
      select case when count(*) < ${mostPolls} then now() - ${days} * interval '1 day'
                  else coalesce(min(created_at), now()) end as since from newest where not ${IS_FREE}
    ),
    ended as (select * from newest where simulated = ${simulated} and created_at >= (select since from span)),
    answered as (select * from ended where status <> 'failed'),
    buried as (
      select count(*) as polls
        from (select poll_id, created_at from dead_letters order by id desc limit ${mostPolls}) letter
       cross join lateral (select spec from polls where id = letter.poll_id limit 1) poll
       where letter.created_at > (select since from span) and (poll.spec ->> 'simulated')::boolean = ${simulated}
    ),
    opinions as (
      select account_id, outcome_correct
        from (select account_id, f.outcome_correct,
                     row_number() over (partition by account_id order by f.created_at desc) as nth
                from ended join feedback f using (poll_id, account_id)
               where not ${IS_FREE} and total_cost_u > 0) given
       where nth <= ${MAX_OPINIONS}
    ),
    judgement as (
      select count(*)::integer as total,
             (count(*) filter (where outcome_correct))::integer as correct,
             (count(*) filter (where not outcome_correct))::integer as incorrect,
             (count(distinct account_id) filter (where outcome_correct is not null))::integer as accounts,
             (select coalesce(sum(share), 0)::float8
                from (select avg(outcome_correct::integer) as share from opinions group by account_id) of_accounts) as "rightAccounts"
        from opinions
    )
    select span.since as "from", now() as "to",
           (select count(*) filter (where status = 'success')::integer from ended) as success,
           (select count(*) filter (where status = 'partial')::integer from ended) as partial,
           (select count(*) filter (where status = 'failed')::integer from ended)
             + (select polls::integer from buried) as failed,
           (select json_build_object('average', avg(total_ms),
                     'p50', percentile_cont(0.5) within group (order by total_ms),
                     'p95', percentile_cont(0.95) within group (order by total_ms))
              from answered having count(*) > 0) as latency,
           (select json_build_object('average', avg(total_cost_u),
                     'median', percentile_cont(0.5) within group (order by total_cost_u))
              from answered where panel_name <> all (${FREE_PRESETS}::text[]) having count(*) > 0) as cost,
           (select count(*) filter (where early_terminated)::integer from answered) as early,
           (select to_json(judgement) from judgement) as feedback
      from span`.execute(db);
  const { from, to, success, partial, failed, latency, cost, early, feedback } = rows[0]!;
  const agreement = new Map((await readModelAgreement({ db }, { simulated, days })).map((one) => [one.modelId, one]));
  const models = await modelsSince({ db }, { simulated, from, mostPolls });
  return {
    from,
    to,
    polls: { success, partial, failed },
    latencyMs: latency,
    costU: cost,
    earlyTerminated: early,
    feedback,
    models: models.map((model) => ({ ...model, ...(agreement.get(model.modelId) ?? { judged: 0, agreed: 0 }) })),
  };
}

interface Row {
  from: Date;
  to: Date;
  success: number;
  partial: number;
  failed: number;
  latency: StoredReputation['latencyMs'];
  cost: StoredReputation['costU'];
  early: number;
  feedback: StoredReputation['feedback'];
}

interface Span {
  simulated: boolean;
  from: Date;
  mostPolls: number;
}

async function modelsSince(
  { db }: Queries,
  { simulated, from, mostPolls }: Span,
): Promise<Omit<StoredModelReputation, 'judged' | 'agreed'>[]> {
  const { rows } = await sql<Omit<StoredModelReputation, 'judged' | 'agreed'>>`
    with newest as materialized (
      select poll_id, simulated, created_at
        from (${newestPolls(sql`${from}::timestamptz`, pollIdsSince(new Date(from.getTime() - 86_400_000)), mostPolls)}) of_both_kinds
    )
    select model_id as "modelId",
           count(*)::integer as asked,
           count(option)::integer as votes,
           (avg(latency_ms) filter (where option is not null))::float8 as "averageLatencyMs",
           percentile_cont(0.95) within group (order by latency_ms) filter (where option is not null) as "p95LatencyMs",
           (avg(billed_u) filter (where option is not null))::float8 as "averageCostU",
           max(created_at) filter (where option is not null) as "lastVoteAt"
      from newest cross join lateral (
             -- One lookup for each poll: joined as a whole, all votes might be read.
             select model_id, option, latency_ms, billed_u, error from votes where votes.poll_id = newest.poll_id offset 0) vote
     where newest.simulated = ${simulated} and error is distinct from 'aborted'
     group by model_id order by model_id`.execute(db);
  return rows;
}
