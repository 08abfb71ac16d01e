import t from 'tap';
import { FUNDING, REVENUE } from '../src/system-accounts.ts';
import { funded, open } from './fixtures.ts';

const FUNDING_ACCOUNTS = Object.values(FUNDING)
  .map((id) => `'${id}'`)
  .join(', ');

/** As the step that made the table has them: a row is refused where one of them is false. */
const FIRST_CONSTRAINTS = [
  "kind in ('credit', 'reversal', 'top_up', 'hold', 'post', 'void')",
  "(kind in ('post', 'void')) = (pending_id is not null)",
  `case when kind = 'hold' then poll_id is null or idem = 'hold:' || poll_id
        when kind in ('post', 'void') then idem = 'resolve:' || pending_id::text
        else poll_id is null end`,
  `case when kind in ('credit', 'top_up') then debit in (${FUNDING_ACCOUNTS})
        when kind = 'reversal' then credit in (${FUNDING_ACCOUNTS})
        else credit = '${REVENUE}' end`,
];

/** Each kind with each pair of accounts, with and without a hold and a poll, under each kind of name. */
const COMBINATIONS = `
  unnest(array['credit', 'reversal', 'top_up', 'hold', 'post', 'void', 'other', '']) as kind,
  (select format('00000000-0000-4000-8000-00000000000%s', n)::uuid as debit from generate_series(1, 8) n) d,
  (select format('00000000-0000-4000-8000-00000000000%s', n)::uuid as credit from generate_series(1, 8) n) c,
  (values (null::bigint), (7)) h (pending_id), (values (null), ('ps_1')) p (poll_id),
  unnest(array['hold:ps_1', 'hold:ps_2', 'hold:', 'resolve:7', 'resolve:8', 'resolve:', 'credit:1', '']) as idem`;

t.test('the rule of transfers allows what the constraints did whose place it took, and nothing else', async (t) => {
  const { query } = await open(t);
  const allowed = FIRST_CONSTRAINTS.map((condition) => `((${condition}) is not false)`).join(' and ');
  const [compared] = await query<{ differ: number; allowed: number; refused: number }>(`
    select count(*) filter (where before is distinct from now)::int as differ, count(*) filter (where before)::int as allowed,
           count(*) filter (where not before)::int as refused
      from (select ${allowed} as before, is_transfer(kind, idem, debit, credit, pending_id, poll_id) as now
              from ${COMBINATIONS}) r`);
  t.equal(compared?.differ, 0);
  t.ok(compared!.allowed > 500 && compared!.refused > 10_000, JSON.stringify(compared));
});

t.test('the table refuses what breaks the rule', async (t) => {
  const { storage, query } = await open(t);
  const account = await funded(storage, 0n);
  const insert = 'insert into transfers (idem, kind, debit, credit, amount_u, pending_id, poll_id) values';
  for (const row of [
    `('mine', 'credit', '${account}', '${FUNDING.card}', 5, null, null)`,
    `('hold:ps_2', 'hold', '${account}', '${REVENUE}', 5, null, 'ps_1')`,
    `('resolve:1', 'post', '${account}', '${REVENUE}', 5, null, 'ps_1')`,
    `('gift', 'gift', '${FUNDING.card}', '${account}', 5, null, null)`,
  ])
    await t.rejects(query(`${insert} ${row}`), { code: '23514', constraint: 'transfers_rules' }, row);
  await query(`${insert} ('mine', 'credit', '${FUNDING.card}', '${account}', 5, null, null)`);
});

t.test('the rule of polls allows what the constraints did whose place it took, in every month', async (t) => {
  const { query } = await open(t);
  const combinations = `unnest(array['running', 'completed', 'failed', 'other', '']) as status,
    unnest(array['standard', 'flex', 'other', '']) as lane, unnest(array[null, now()]) as finished_at`;
  const rows = await query<{ before: boolean; now: boolean }>(`
    select status in ('running', 'completed', 'failed') and lane in ('standard', 'flex')
             and (status = 'running') = (finished_at is null) as before,
           is_poll(status, lane, finished_at) as now from ${combinations}`);
  for (const { before, now } of rows) t.equal(now, before);
  t.equal(rows.filter(({ now }) => now).length, 6);

  // In the last two days of a month, one month fewer is made.
  await query('select keep_months(5)');
  const insert = `insert into polls (id, result_id, spec, entry_point, lease_until, deadline_at, lane, status)
    select month_ids(starts_at) || 'X', 'R' || name, '{}', 'polls', now(), now(), 'flex', $1 from months where name = $2`;
  const months = await query<{ name: string }>("select name from months where name <> 'first'");
  t.ok(months.length >= 4);
  for (const { name } of months) {
    await t.rejects(query(insert, ['failed', name]), { code: '23514', constraint: 'polls_rules' }, name);
    await query(insert, ['running', name]);
  }
  const checks = `select distinct conname from pg_constraint join pg_class c on c.oid = conrelid where contype = 'c' and relname ~ '^polls'`;
  t.same(await query(checks), [{ conname: 'polls_rules' }]);
});

t.test('an answer of usual size is in its row as it is, in every month', async (t) => {
  const { query } = await open(t);
  // In the last two days of a month, one month fewer is made.
  await query('select keep_months(5)');
  await query(`
    insert into results (poll_id, result_id, status, panel_name, entry_point, simulated, is_tie, early_terminated, models_requested,
                         models_succeeded, models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail)
    select month_ids(starts_at) || 'X', 'R' || name, 'success', 'broad', 'polls', true, false, false, 7, 7, 0, 0, 0, 1, 1,
           json_build_object('text', repeat('an answer ', 350)) from months where name <> 'first'`);
  const rows = await query<{ over: number; length: number }>(
    'select pg_column_size(detail) - octet_length(detail::text) as over, octet_length(detail::text) as length from results',
  );
  t.ok(rows.length >= 4);
  t.match(
    rows,
    rows.map(() => ({ over: 4, length: 3_513 })),
  );
});
