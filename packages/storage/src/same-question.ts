import type { PollResponse } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

/** How often an account asked the same question, by winner. */
export interface SameQuestion {
  /** Null for a tie, or if no model voted. */
  winner: string | null;
  polls: number;
}

/** Older polls than these are not compared. */
const MAX_READ = 200;

/** Most frequent winner first. The same options in another order count as the same question. */
export async function pollsOfQuestion(
  { db }: Queries,
  accountId: string,
  { question, options }: Pick<PollResponse, 'question' | 'options'>,
): Promise<SameQuestion[]> {
  const { rows } = await sql<SameQuestion>`
    with own as (
      select winning_option, detail from results
       where account_id = ${accountId} order by created_at desc, poll_id limit ${MAX_READ})
    select winning_option as winner, count(*)::integer as polls from own
     where detail ->> 'question' = ${question}
       and (detail -> 'options')::jsonb @> ${JSON.stringify(options)}::jsonb
       and (detail -> 'options')::jsonb <@ ${JSON.stringify(options)}::jsonb
     group by winning_option order by polls desc, winner`.execute(db);
  return rows;
}
