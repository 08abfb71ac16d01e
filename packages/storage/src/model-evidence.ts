import { FREE_PRESETS } from '@eloquentpoll/contracts';
import { minVotesOf, pollIdsSince } from '@eloquentpoll/polls';
import { type RawBuilder, sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { IS_FREE } from './reputation.ts';

// Votes as numbers, and what was learned from them. No text leaves the database here.

/** How the models of one poll voted. */
export interface VotedPoll {
  optionCount: number;
  models: readonly string[];
  /** One per model: an option, or null for none. */
  options: readonly (number | null)[];
  /** The right option, if the poll's owner gave feedback that shows it. */
  answer: number | null;
  /** The option that the poll's owner said is wrong. Of two options, the other one is then the answer. */
  rejected: number | null;
}

export interface VotedAudit extends VotedPoll {
  /** Its `common` votes teach how reliable the models are: the poll is not among `recentVotes`. */
  teaches: boolean;
  /**
   * So many first votes every audit of this panel has. In a small panel a lock comes before confidence, so polls whose
   * models agree end early, and the later votes are those of disputed questions.
   */
  common: number;
}

export interface ModelEvidence {
  simulated: boolean;
  /** The UTC day on which it was learned. */
  version: string;
  questions: number;
  knownAnswers: number;
  audits: number;
  /** Empty until there are enough questions. */
  reliabilities: Readonly<Record<string, { right: number; votes: number }>>;
  /** Null for pairs that are seldom audited together. */
  agreement: { models: readonly string[]; matrix: readonly (readonly (number | null)[])[] };
}

export interface VotesWanted {
  simulated: boolean;
  days: number;
  /** The newest polls, at most this many. */
  limit: number;
  /** The maximum per account or network, so that no tenant dominates what is learned. */
  ofOneTenant: number;
}

/** How many polls are examined for each poll wanted. */
const SCANNED_PER_WANTED = 5;
/** Anybody can ask free polls, from as many networks as they have: all of them are a fifth, and so is each network. */
const FREE_SHARE = 0.2;

/**
 * The newest polls with a vote, without those of closed accounts. Polls that were asked cheapest first are left out: their
 * dear models were heard only on questions about which the cheap ones disagree, and would look worse than they are.
 */
export async function recentVotes({ db }: Queries, wanted: VotesWanted): Promise<VotedPoll[]> {
  const since = new Date(Date.now() - (wanted.days + 1) * 86_400_000);
  const ofFree = (count: number) => Math.ceil(FREE_SHARE * count);
  const newest = (isFree: boolean, kind: RawBuilder<unknown>, limit: number) => sql`
      (select poll_id, account_id, winning_option, created_at, ${isFree}::boolean as is_free
         from results r
        where ${kind} and simulated = ${wanted.simulated} and emptied_at is null and status <> 'failed'
          and created_at > now() - make_interval(days => ${wanted.days}) and poll_id >= ${pollIdsSince(since)}
          and not exists (select from accounts a where a.id = r.account_id and a.deleted_at is not null)
        order by created_at desc limit ${limit * SCANNED_PER_WANTED})`;
  const { rows } = await sql<VotedPoll>`
    with newest as (
      ${newest(false, sql`not ${IS_FREE}`, wanted.limit)}
      union all
      ${newest(true, IS_FREE, ofFree(wanted.limit))}
    ), of_tenants as (
      select n.*, p.spec->'options' as texts,
             row_number() over (partition by is_free, coalesce(p.tenant, '') order by n.created_at desc) as of_tenant
        -- One lookup for each result: joined as a whole, all polls might be read.
        from newest n cross join lateral (select tenant, spec from polls where id = n.poll_id limit 1) p
       where coalesce(p.spec #>> '{track_record,order}', 'shuffled') = 'shuffled'
    ), shared as (
      select *, row_number() over (partition by is_free order by created_at desc) as of_kind
        from of_tenants
       where of_tenant <= case when is_free then ${ofFree(wanted.ofOneTenant)}::integer else ${wanted.ofOneTenant}::integer end
    )
    select jsonb_array_length(texts) as "optionCount", v.models, v.options, said.answer, said.rejected
      from shared s
      left join lateral (
        select (case when outcome_correct then place - 1
                     when not outcome_correct and jsonb_array_length(texts) = 2 then 2 - place end)::integer as answer,
               (case when not outcome_correct then place - 1 end)::integer as rejected
          from feedback f, jsonb_array_elements_text(texts) with ordinality as o (text, place)
         where f.poll_id = s.poll_id and f.account_id = s.account_id and o.text = s.winning_option) said on true,
           lateral (select array_agg(model_id order by seat) as models, array_agg(option order by seat) as options
                      from votes where votes.poll_id = s.poll_id) v
     where (not is_free or of_kind <= ${ofFree(wanted.limit)}) and v.models is not null
     order by created_at desc limit ${wanted.limit}`.execute(db);
  return rows;
}

/** In panels with fewer models, a lock may come before confidence may stop a poll. */
const LOCKS_LATER = 2 * minVotesOf('broad');

/** The newest audits. */
export async function auditedVotes(
  { db }: Queries,
  { simulated, limit }: Pick<VotesWanted, 'simulated' | 'limit'>,
): Promise<VotedAudit[]> {
  const { rows } = await sql<VotedAudit>`
    select a.option_count as "optionCount", a.votes as options, null as answer, null as rejected,
           array(select v.models[place + 1] from unnest(a.seats) with ordinality as s (place, i) order by i) as models,
           cardinality(a.votes) >= common and a.asked_order = 'cheapest' as teaches, common
      from audits a join roster_versions v on v.version = a.roster_version,
           lateral (select case when v.panel_name <> all (${FREE_PRESETS}::text[]) and cardinality(v.models) < ${LOCKS_LATER}
                                then cardinality(v.models) / 2 + 1 else cardinality(v.models) end as common) of_panel
     where v.simulated = ${simulated}
     order by a.id desc limit ${limit}`.execute(db);
  return rows;
}

const KEPT_DAYS = 400;

/** The first one of a day is kept. */
export async function storeModelEvidence({ db }: Queries, evidence: ModelEvidence): Promise<void> {
  await db
    .insertInto('model_evidence')
    .values({
      simulated: evidence.simulated,
      version: evidence.version,
      questions: evidence.questions,
      known_answers: evidence.knownAnswers,
      audits: evidence.audits,
      reliabilities: JSON.stringify(evidence.reliabilities),
      agreement: JSON.stringify(evidence.agreement),
    })
    .onConflict((same) => same.columns(['simulated', 'version']).doNothing())
    .execute();
  await db
    .deleteFrom('model_evidence')
    .where('created_at', '<', sql<Date>`now() - make_interval(days => ${KEPT_DAYS})`)
    .execute();
}

export async function newestModelEvidence({ db }: Queries, simulated: boolean): Promise<ModelEvidence | null> {
  const row = await db
    .selectFrom('model_evidence')
    .selectAll()
    .where('simulated', '=', simulated)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  if (!row) return null;
  const { version, questions, known_answers: knownAnswers, audits, reliabilities, agreement } = row;
  return { simulated, version, questions, knownAnswers, audits, reliabilities, agreement };
}
