import { roleUrl } from '@eloquentpoll/testkit/database';
import pg from 'pg';
import t, { type Test } from 'tap';
import { FUNCTION_GRANTS, TABLE_GRANTS } from '../src/grants.ts';
import { GATEWAY_ROLE, WORKER_ROLE } from '../src/index.ts';
import { funded, open, USD } from './fixtures.ts';

// What a process of the product could do to the books with its own password.

const ATTEMPTS = [
  'alter table transfers disable trigger transfers_append_only',
  'alter table transfers disable trigger all',
  'drop trigger transfers_append_only on transfers',
  'create or replace function refuse_rewrite() returns trigger language plpgsql as $$ begin return new; end $$',
  'alter function refuse_rewrite() rename to none',
  'drop table transfers cascade',
  'update transfers set amount_u = 1',
  'delete from transfers',
  'truncate transfers cascade',
  `insert into transfers (idem, kind, debit, credit, amount_u)
   select 'mine', 'credit', '00000000-0000-4000-8000-000000000003', account_id, 1 from balances`,
  'update balances set posted_u = posted_u + 1000000',
  'update balances set held_u = 0',
  'update balances set used_u = 0',
  'delete from balances',
  'insert into balances (account_id, posted_u) select id, 1000000 from accounts',
  "update ledger_checks set checked_at = now() + interval '1 year', violations = 0",
  "update ledger_pages set hash = sha256('')",
  'delete from ledger_pages',
  'update ledger_seals set polls_kept = false',
  'delete from ledger_seals',
  'update ledger_sums set posted_u = 0',
  'delete from ledger_day_sums',
  'delete from ledger_open_holds',
  'update votes set billed_u = 0',
  'delete from votes',
  'update results set total_cost_u = 0',
  "update polls set status = 'failed', finished_at = now()",
  'delete from polls',
  "create or replace function check_ledger() returns table (rule text, subject text, found text) language sql as $$ select '', '', '' where false $$",
  "select ledger_hold(gen_random_uuid(), 1, 'x', null)",
  "select ledger_resolve('x', 0)",
  'set session_replication_role = replica',
  'create table mine (n int)',
  `set role postgres`,
];

/** Beside those, by one of them. */
const OTHERS: Record<string, string[]> = {
  [GATEWAY_ROLE]: [
    "select finish_poll('{}')",
    'select close_books(1, 1, 1)',
    'select prune_expired(1)',
    'select * from end_ledger_check(null, 1)',
    'update polls set lease_epoch = 1',
    'update batches set reserved_u = 1',
    "insert into batch_rows values ('pb_1', 1, 'a')",
    "select end_batch_poll(null, 'success', 1, 1)",
  ],
  [WORKER_ROLE]: [
    "select accept_poll('{}')",
    "select accept_polls('[]')",
    "select ledger_move('credit', gen_random_uuid(), '00000000-0000-4000-8000-000000000003', 1, 'x')",
    'update balances set held_back_u = 0',
    'insert into accounts default values',
    'select hash from api_keys',
    'select * from logins',
    'update checkouts set amount_cents = 1',
    'delete from deposits',
  ],
};

async function asRole(t: Test, url: string, role: string) {
  const client = new pg.Client({ connectionString: roleUrl(url, role) });
  await client.connect();
  t.teardown(() => client.end());
  return async (text: string) => (await client.query(text)).rows;
}

for (const [role, others] of Object.entries(OTHERS))
  t.test(`${role} can neither write the ledger nor take away what keeps it`, async (t) => {
    const { storage, url, query } = await open(t);
    await funded(storage, USD);
    const before = await query('select md5(string_agg(t::text, $1 order by id)) from transfers t', ['|']);
    const ask = await asRole(t, url, role);
    for (const attempt of [...ATTEMPTS, ...others]) await t.rejects(ask(attempt), { code: '42501' }, attempt);
    t.same(await query('select md5(string_agg(t::text, $1 order by id)) from transfers t', ['|']), before);
    t.ok((await ask('select id from transfers')).length > 0, 'but it reads');
  });

t.test('the function that a worker checks with says what it finds, not what it is given', async (t) => {
  const { url, query } = await open(t);
  const ask = await asRole(t, url, WORKER_ROLE);
  await query("insert into accounts (kind) values ('user')");
  await ask('select begin_ledger_check(0)');
  t.match(await ask('select * from end_ledger_check(null, 1000)'), [{ rule: 'no_balance' }]);
  t.match(await query('select violations from ledger_checks'), [{ violations: 1 }]);
});

t.test('every function that runs as the owner says who may call it, and fixes its search path', async (t) => {
  const { query } = await open(t);
  const rows = await query<{ name: string; settings: string[] | null }>(`
    select proname as name, proconfig as settings from pg_proc
     where pronamespace = 'public'::regnamespace and prosecdef order by proname`);
  t.same(
    rows.map(({ name }) => name),
    Object.keys(FUNCTION_GRANTS).toSorted(),
  );
  for (const { name, settings } of rows) t.ok(settings?.includes('search_path=public, pg_temp'), name);
});

t.test('tables that are listed exist', async (t) => {
  const { query } = await open(t);
  const rows = await query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
  );
  const names = new Set(rows.map(({ name }) => name));
  for (const table of Object.keys(TABLE_GRANTS)) t.ok(names.has(table), table);
});
