import type { Stores } from '../fixture/stores.ts';

// A database as it is after months of service, and how its oldest month is dropped.

/** Creates a partition for each of the last months. Tables must still be empty: their first partition is dropped. */
export async function makePastMonths({ query }: Pick<Stores, 'query'>, months: number): Promise<void> {
  await query(`
    do $$ declare v_table text; begin
      for v_table in select t.name from months m cross join monthly_tables(m) t where m.name = 'first' loop
        execute format('drop table %I', v_table || '_first');
      end loop;
      delete from months where name = 'first';
    end $$`);
  for (let ago = months; ago >= 0; ago--)
    await query(
      `select make_month(v_starts)
         from (select date_trunc('month', now() - interval '${ago} months', 'UTC') as v_starts) m
        where not exists (select from months where starts_at = v_starts)`,
    );
}

export interface DroppedMonth {
  readonly polls: number;
  readonly size: string;
  /** The time of each step, including the deletion of the files. */
  readonly stepsMs: readonly number[];
  /** The time of the slowest statement of a caller meanwhile. */
  readonly slowestMs: number;
}

/** First marks all polls of the oldest month as emptied, because only then it may be dropped. */
export async function dropOldestMonth({ query }: Pick<Stores, 'query'>): Promise<DroppedMonth> {
  const [month] = await query<{ name: string }>('select name from months order by ends_at limit 1');
  const name = month!.name;
  await query(`update polls_${name} set account_id = null, expires_at = null`);
  const [size] = await query<{ polls: number; size: string }>(`
    select (select count(*)::float8 from polls_${name}) as polls,
           pg_size_pretty(sum(pg_total_relation_size(t))) as size
      from unnest(array['polls_${name}', 'votes_${name}', 'results_${name}', 'poll_labels_${name}']::regclass[]) t`);
  let going = true;
  let slowestMs = 0;
  const callers = (async () => {
    for (let n = 0; going; n++) {
      const began = performance.now();
      await query('select status from polls where id = $1', [`ps_${n}`]);
      slowestMs = Math.max(slowestMs, performance.now() - began);
    }
  })();
  const stepsMs: number[] = [];
  for (let began = performance.now(); ; began = performance.now()) {
    const [step] = await query<{ step: string | null }>('select drop_month() as step');
    if (!step!.step) break;
    stepsMs.push(Math.round(performance.now() - began));
    // Later steps drop the month's webhook tables, which are not measured.
    if (step!.step.startsWith('dropped polls')) break;
  }
  going = false;
  await callers;
  return { ...size!, stepsMs, slowestMs: Math.round(slowestMs) };
}
