import { sql } from 'kysely';
import t from 'tap';
import { createAccount, creditAccount } from '../src/index.ts';
import { functionText } from '../src/migrations/function-text.ts';
import { open, USD, unique } from './fixtures.ts';
import { executedNodes, rowsRead } from './query-plan.ts';

const POLLS = 1_000;
const REVENUE = '00000000-0000-4000-8000-000000000002';

t.test('the check of transfers compares none with each other, by the statistics of a new installation', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await createAccount(storage);
  for (let i = 0; i < 20; i++)
    await creditAccount(storage, { accountId, amountU: USD, source: 'operator', idem: unique('grant:') });
  await query('analyze');
  // By these statistics no transfer belongs to a poll.
  await query(`
    set session_replication_role = replica;
    insert into polls (id, result_id, account_id, status, spec, entry_point, lease_until, deadline_at, finished_at)
    select month_ids(now()) || lpad(n::text, 22, '0'), 'EP-' || n, '${accountId}', 'completed', '{"max_cost_u": 1000}', 'rest',
           now(), now(), now() from generate_series(1, ${POLLS}) n;
    insert into transfers (id, idem, kind, debit, credit, amount_u, pending_id, poll_id) overriding system value
    select x.* from (select id, 1000 + 2 * row_number() over (order by id) as hold from polls) p cross join lateral (values
      (hold, 'hold:' || id, 'hold', '${accountId}'::uuid, '${REVENUE}'::uuid, 500, null::bigint, id),
      (hold + 1, 'resolve:' || hold, 'post', '${accountId}', '${REVENUE}', 300, hold, id)) x;
    insert into votes (poll_id, seat, model_id, option, latency_ms, billed_u, calls, searched, labels)
    select id, seat, 'sim/m' || seat, 0, 700, 100, 1, false, '{}' from polls, generate_series(0, 2) seat;
    insert into results (poll_id, result_id, account_id, status, panel_name, entry_point, simulated, is_tie, early_terminated,
                         models_requested, models_succeeded, models_failed, models_skipped, total_cost_u, gather_ms, total_ms, detail)
    select id, result_id, account_id, 'success', 'fast', 'rest', true, false, false, 3, 3, 0, 0, 300, 700, 700, '{}' from polls;
    reset session_replication_role`);

  const text = /return query\n([\s\S]*);\nend \$\$/.exec(functionText('check_transfers'))![1]!;
  const statement = text
    .replaceAll('p_polls_kept', 'true')
    .replaceAll('p_after', '0')
    .replaceAll('p_to', '9223372036854775807');
  t.same((await sql.raw(statement).execute(storage.db)).rows, [], 'the books are true');
  const most = Math.max(...(await executedNodes(storage, sql.raw(statement))).map(rowsRead));
  t.ok(most >= 2 * POLLS && most < 10 * POLLS, `${most} rows of ${2 * POLLS} transfers in one step of its plan`);
});
