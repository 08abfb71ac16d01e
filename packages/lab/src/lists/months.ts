import type { Stores } from '../fixture/stores.ts';

// A database as it is after months of service, and the end of its oldest month.

/** The tables that are empty yet get a partition for each of the last months, beside those of the months to come. */
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
  /** Of each step, the files included. */
  readonly stepsMs: readonly number[];
  /** What a statement of a caller took at most meanwhile. */
  readonly slowestMs: number;
}

/** As if all polls of the oldest month had been emptied and their days closed. */
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
    // The logs of webhooks go after it.
    if (step!.step.startsWith('dropped polls')) break;
  }
  going = false;
  await callers;
  return { ...size!, stepsMs, slowestMs: Math.round(slowestMs) };
}
