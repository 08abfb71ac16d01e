import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

// How often each model votes for the option that its whole panel elects. Counted in audited polls, and there only the
// votes that were heard whatever the others voted. Elsewhere a dear or slow model is heard mostly after the others
// disagreed, on hard questions, and would look worse than a weak model that is always asked.

export interface ModelAgreement {
  modelId: string;
  /** Votes in audited polls whose panel elected one option; `agreed` counts those for that option. */
  judged: number;
  agreed: number;
}

const AGREEMENT_AUDITS = 4_000;
/** The maximum per account or network, so that none decides how a model looks. */
const AUDITS_OF_ONE_TENANT = 400;
/** More audits than are needed are examined, because some are of tenants that have enough. */
const SCANNED_PER_COUNTED = 5;
/** Audits of a panel in one order count whole if at most this share of them ended with a lock before all were heard. */
const MAX_CUT_SHARE = 0.01;

/**
 * Where locks end audits, a model that is heard late has votes only on disputed questions. There the first votes count,
 * a bare majority of the panel: no lock comes before.
 */
export async function readModelAgreement(
  { db }: Queries,
  { simulated, days }: { simulated: boolean; days: number },
): Promise<ModelAgreement[]> {
  const { rows } = await sql<ModelAgreement>`
    with newest as (
      select a.*, v.models
        from audits a join roster_versions v on v.version = a.roster_version
       where v.simulated = ${simulated} and a.created_at > now() - make_interval(days => ${days})
       order by a.id desc limit ${AGREEMENT_AUDITS * SCANNED_PER_COUNTED}
    ), shared as (
      select n.*, row_number() over (partition by coalesce(p.tenant, '') order by n.id desc) as of_tenant
        -- One lookup for each audit: joined as a whole, all polls might be read.
        from newest n left join lateral (select tenant from polls where id = n.poll_id limit 1) p on true
    ), counted as (
      select * from shared where of_tenant <= ${AUDITS_OF_ONE_TENANT} order by id desc limit ${AGREEMENT_AUDITS}
    ), sorted as (
      select *, avg((cardinality(votes) < cardinality(models))::integer)
                  over (partition by roster_version, asked_order) <= ${MAX_CUT_SHARE} as are_whole
        from counted
    )
    select models[seat + 1] as "modelId", count(*)::integer as judged,
           (count(*) filter (where option = winner))::integer as agreed
      from sorted, unnest(seats, votes) with ordinality as heard (seat, option, place)
     where winner is not null and option is not null and (are_whole or place <= cardinality(models) / 2 + 1)
     group by 1 order by 1`.execute(db);
  return rows;
}
