import { FREE_PRESETS, type ResultStatus } from '@eloquentpoll/contracts';
import { pollIdsSince } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// How polls and each model in them did. Free polls and single accounts cannot distort the figures: free polls are a
// bounded part of the window, and only a limited number of opinions of each paying account count. Only the newest polls
// are counted, by index and up to a limit, so the cost does not grow with the stored data. No account or text is read.

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
  feedback: { total: number; correct: number; incorrect: number };
  models: StoredModelReputation[];
}

export interface StoredModelReputation {
  modelId: string;
  /** Without calls that a poll aborted, which say nothing about the model. */
  asked: number;
  votes: number;
  averageLatencyMs: number | null;
  p95LatencyMs: number | null;
  averageCostU: number | null;
  /** Votes in polls that had a winner; `agreed` counts those for the winner. */
  judged: number;
  agreed: number;
  lastVoteAt: Date | null;
}

export const REPUTATION_DAYS = 30;
export const REPUTATION_POLLS = 10_000;
/** Free polls are added, at most one for this many paid ones. */
const PAID_PER_FREE = 5;
const MAX_OPINIONS = 20;

/** Each half uses an index for its kind, which the planner chooses only if the names are literals. */
const IS_FREE = sql.raw(`panel_name in (${FREE_PRESETS.map((name) => `'${name}'`).join(', ')})`);

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
      select poll_id, status, panel_name, simulated, early_terminated, total_cost_u, total_ms, created_at
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
        join polls on polls.id = letter.poll_id
       where letter.created_at > (select since from span) and (polls.spec ->> 'simulated')::boolean = ${simulated}
    ),
    judgement as (
      select count(*)::integer as total,
             (count(*) filter (where outcome_correct))::integer as correct,
             (count(*) filter (where not outcome_correct))::integer as incorrect
        from (select f.outcome_correct, row_number() over (partition by account_id order by f.created_at desc) as nth
                from ended join feedback f using (poll_id) join balances b using (account_id)
               where b.used_u > 0) given
       where nth <= ${MAX_OPINIONS}
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
  return {
    from,
    to,
    polls: { success, partial, failed },
    latencyMs: latency,
    costU: cost,
    earlyTerminated: early,
    feedback,
    models: await modelsSince({ db }, { simulated, from, mostPolls }),
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

/** The winning option is the one with most votes: a poll with a winner has exactly one. */
async function modelsSince({ db }: Queries, span: Span): Promise<StoredModelReputation[]> {
  const { simulated, from, mostPolls } = span;
  const { rows } = await sql<StoredModelReputation>`
    with newest as materialized (
      select poll_id, simulated, winning_option is not null as won, created_at
        from (${newestPolls(sql`${from}::timestamptz`, pollIdsSince(new Date(from.getTime() - 86_400_000)), mostPolls)}) of_both_kinds
    ),
    papers as materialized (
      select vote.poll_id, model_id, option, latency_ms, billed_u, won, created_at
        from newest cross join lateral (
               select poll_id, model_id, option, latency_ms, billed_u, error
                 from votes where votes.poll_id = newest.poll_id) vote
       where newest.simulated = ${simulated} and error is distinct from 'aborted'
    ),
    winners as (
      select distinct on (poll_id) poll_id, option as winner
        from papers where won and option is not null
       group by poll_id, option order by poll_id, count(*) desc
    )
    select model_id as "modelId",
           count(*)::integer as asked,
           count(option)::integer as votes,
           (avg(latency_ms) filter (where option is not null))::float8 as "averageLatencyMs",
           percentile_cont(0.95) within group (order by latency_ms) filter (where option is not null) as "p95LatencyMs",
           (avg(billed_u) filter (where option is not null))::float8 as "averageCostU",
           (count(option) filter (where won))::integer as judged,
           (count(*) filter (where option = winner))::integer as agreed,
           max(created_at) filter (where option is not null) as "lastVoteAt"
      from papers left join winners using (poll_id)
     group by model_id order by model_id`.execute(db);
  return rows;
}
