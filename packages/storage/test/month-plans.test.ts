import { sql } from 'kysely';
import t from 'tap';
import { inTransaction, type Queries, readReputation, recentVotes } from '../src/index.ts';
import { funded, open, spec } from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';

// Statements about a bounded number of polls read those, however many there are in two years of months. How much is read
// is counted by Postgres in the transaction that reads it.

const POLLS = 12_000;

t.test('what is read of many months is what a bounded number of polls has', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 0n);
  await query('select keep_months(23)');
  // In every month there are as many, all of them ended lately: no time leaves any out.
  await query(
    `insert into polls (id, result_id, account_id, tenant, status, spec, entry_point, lease_until, deadline_at,
                        finished_at, created_at, metadata)
     select case first_poll when '' then month_ids(now()) else first_poll end || left(md5('' || i), 22), 'EP-' || i,
            $1::uuid, i % 500, 'completed', $2::jsonb, 'rest', at, at, at, at, jsonb_build_object('n', i::text)
       from generate_series(1, ${POLLS}) i
      cross join lateral (select now() - i * interval '1 minute' as at) ended
      cross join lateral (select first_poll from months order by starts_at offset i % 24 limit 1) month`,
    [accountId, JSON.stringify(spec)],
  );
  await query(`insert into poll_labels (account_id, label, created_at, poll_id)
    select account_id, label_of(key, value), created_at, id from polls, jsonb_each_text(metadata)`);
  await query(`insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated,
      winning_option, is_tie, early_terminated, models_requested, models_succeeded, models_failed, models_skipped,
      total_cost_u, gather_ms, total_ms, detail, created_at)
    select id, result_id, account_id, 'success', 'broad', 'rest', true, 'A', false, false, 3, 3, 0, 0, 9, 1, 1, '{}',
           created_at from polls`);
  await query(`insert into votes (poll_id, seat, model_id, option, latency_ms, billed_u, calls, searched, labels)
    select id, seat, 'sim/m' || seat, 0, 1, 3, 1, false, '{}' from polls, generate_series(0, 2) seat`);
  await query(`insert into usage_names (account_id, day, name, value_count)
    select gen_random_uuid(), '2026-01-01', 'n', 1 from generate_series(1, ${POLLS})`);
  await query(
    `insert into batch_rows (batch_id, line, custom_id, poll_id) select 'pb_of_others', i, i, i from generate_series(1, ${POLLS}) i`,
  );
  await query('analyze');

  const readOf = (tables: string, work: (tx: Queries) => Promise<unknown>): Promise<number> =>
    inTransaction(storage, (tx) => rowsReadBy(tx, tables, () => work(tx)));

  const wanted = { simulated: true, days: 30, limit: 20, ofOneTenant: 20 };
  const learned = await readOf('polls', async (tx) => t.equal((await recentVotes(tx, wanted)).length, 20));
  t.ok(learned >= 20 && learned <= 200, `${learned} polls to learn from 20`);

  const judged = await readOf('votes', async (tx) => {
    const { models } = await readReputation(tx, { simulated: true, mostPolls: 50 });
    t.match(models, [{ asked: 50 }, { asked: 50 }, { asked: 50 }]);
  });
  t.ok(judged >= 150 && judged <= 300, `${judged} votes of 50 polls`);

  const [chunk] = await query<{ end: string }>(
    'select max(id) as end from (select id from polls order by id limit 500) p',
  );
  const checked = await readOf('polls', (tx) => sql`select from check_polls('', ${chunk!.end})`.execute(tx.db));
  t.ok(checked >= 500 && checked <= 6 * 500, `${checked} polls for a check of 500`);

  const ids = (await query<{ id: string }>('select id from polls order by md5(id) limit 250')).map(({ id }) => id);
  await query(`update polls set batch_id = 'pb', batch_line = 1 where id = any($1)`, [ids.slice(0, 100)]);
  const emptied = await readOf('poll_labels|usage_names|batch_rows', async (tx) => {
    const { rows } = await sql`select empty_polls(${ids}::text[])`.execute(tx.db);
    t.equal(rows.length, ids.length);
  });
  t.ok(emptied >= ids.length && emptied <= 3 * ids.length, `${emptied} rows beside those of ${ids.length} polls`);
});
