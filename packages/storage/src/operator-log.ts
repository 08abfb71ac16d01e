import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';

export interface OperatorAct {
  actionId: string;
  operator: string;
  verb: string;
  subject: string;
  reason: string;
}

/** Appends to the log of operators: 'begun' once, and later the outcome. Rows are never changed. */
export async function noteAct(
  { db }: Queries,
  act: OperatorAct,
  outcome: string,
  facts: Record<string, string> = {},
): Promise<void> {
  const { actionId, operator, verb, subject, reason } = act;
  await db
    .insertInto('operator_log')
    .values({ action_id: actionId, operator, verb, subject, reason, outcome, facts: JSON.stringify(facts) })
    .execute();
}

export interface EarlierAct extends Pick<OperatorAct, 'verb' | 'subject'> {
  /** The facts recorded when the action began. */
  given: Record<string, string>;
  /** 'begun' if nothing else is known yet. */
  outcome: string;
  facts: Record<string, string>;
  /** Seconds since the action began. */
  ageS: number;
}

/** Records that an action begins. If one with this id has already begun, changes nothing and returns that one. */
export async function beginAct(
  { db }: Queries,
  { actionId, operator, verb, subject, reason }: OperatorAct,
  given: Record<string, string>,
): Promise<EarlierAct | null> {
  const begun = await db
    .insertInto('operator_log')
    .values({ action_id: actionId, operator, verb, subject, reason, outcome: 'begun', facts: JSON.stringify(given) })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  if (begun) return null;
  const { rows } = await sql<EarlierAct>`
    select l.verb, l.subject, l.facts as given, e.outcome, e.facts,
           extract(epoch from clock_timestamp() - l.at)::float8 as "ageS"
      from operator_log l
     cross join lateral (select outcome, facts from operator_log
                          where action_id = l.action_id order by id desc limit 1) e
     where l.action_id = ${actionId} and l.outcome = 'begun'`.execute(db);
  return rows[0]!;
}

export interface LoggedAct extends OperatorAct {
  at: Date;
  /** 'begun' if nothing else is known yet. */
  outcome: string;
  facts: Record<string, string>;
}

/** Newest first, each with its latest outcome. */
export async function readOperatorLog({ db }: Queries, limit: number): Promise<LoggedAct[]> {
  const { rows } = await sql<LoggedAct>`
    select l.action_id as "actionId", l.operator, l.verb, l.subject, l.reason, l.at, e.outcome, e.facts
      from operator_log l
     cross join lateral (select outcome, facts from operator_log
                          where action_id = l.action_id order by id desc limit 1) e
     where l.outcome = 'begun' order by l.id desc limit ${limit}`.execute(db);
  return rows;
}
