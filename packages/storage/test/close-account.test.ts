import t, { type Test } from 'tap';
import { closeAccount, createAccount, forgetClosedAccounts, type Storage } from '../src/index.ts';
import { type Fixture, funded, open } from './fixtures.ts';

// What closing an account reads and writes is its own, however much others have and it has asked.

const ROWS = 5_000;

async function plant({ query }: Fixture): Promise<void> {
  await query(
    `insert into deposits (chain_id, asset, payer, nonce, pay_to, amount_u, valid_before, proof, state, account_id, tx_hash)
     select 1, a, a, sha256(n::text::bytea), a, 5, now(), '{}', 'credited', id, sha256(n::text::bytea)
       from generate_series(1, ${ROWS}) n, decode(repeat('00', 20), 'hex') a, (select id from accounts limit 1) owner`,
  );
  await query(
    `insert into caller_days (caller, day, account_id)
     select gen_random_uuid()::text, now()::date, gen_random_uuid() from generate_series(1, ${ROWS})`,
  );
  await query('vacuum analyze deposits, caller_days');
}

/** How often the connection that `flush` asks on has read each of these tables from end to end. */
async function wholeReads({ query }: Fixture, flush: () => Promise<unknown>) {
  await flush();
  return query(`
    select relname, seq_scan::int as n from pg_stat_user_tables where relname in ('deposits', 'caller_days') order by 1`);
}

const flushOf = ({ call }: Storage) => call('select pg_stat_force_next_flush()', []);

t.test(
  'the idempotency keys of a closed account are deleted in steps, and none while it is being closed',
  async (t) => {
    const { storage, query } = await open(t);
    const [accountId, other] = [await createAccount(storage), await createAccount(storage)];
    for (const [principal, count] of [
      [accountId, 10_000],
      [other, 1],
    ])
      await query(
        `insert into idempotency (principal, entry_point, key, fingerprint, expires_at)
       select $1, 'checkout', n, 'f', now() + interval '1 day' from generate_series(1, $2::integer) n`,
        [principal, count],
      );
    const left = async () => {
      const [row] = await query<{ kept: number; touched: number }>(
        `select count(*)::int as kept, (count(*) filter (where xmax::text <> '0'))::int as touched
         from idempotency where principal = $1`,
        [accountId],
      );
      return row;
    };
    const isEmptied = async () =>
      (await query('select from accounts where id = $1 and emptied_at is not null', [accountId])).length > 0;

    t.ok(await closeAccount(storage, accountId));
    t.same(await left(), { kept: 10_000, touched: 0 });
    await forgetClosedAccounts(storage, 4_000);
    t.match(await left(), { kept: 6_000 });
    t.notOk(await isEmptied());
    for (let round = 0; round < 2; round++) await forgetClosedAccounts(storage, 4_000);
    t.match(await left(), { kept: 0 });
    t.ok(await isEmptied());
    t.same(await query('select principal from idempotency'), [{ principal: other }]);
  },
);

async function isRead(t: Test, fixture: Fixture, flush: () => Promise<unknown>, work: () => Promise<unknown>) {
  const before = await wholeReads(fixture, flush);
  await work();
  t.same(await wholeReads(fixture, flush), before);
}

t.test('closing an account and leaving a cell read no table of payments or callers from end to end', async (t) => {
  const fixture = await open(t, { maxConnections: 1 });
  const { storage, query } = fixture;
  const [closing, leaving] = [await funded(storage, 0n), await funded(storage, 0n)];
  await plant(fixture);
  await isRead(
    t,
    fixture,
    () => flushOf(storage),
    async () => t.ok(await closeAccount(storage, closing)),
  );

  const moveId = '00000000-0000-4000-8000-00000000000b';
  await query('update accounts set moving_at = now() where id = $1', [leaving]);
  await query(
    `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
     values ($1, $2, 'out', 'account', '0', '1', 'frozen')`,
    [moveId, leaving],
  );
  const flush = () => query('select pg_stat_force_next_flush()');
  await isRead(t, fixture, flush, async () =>
    t.match(await query(`select leave_cell($1, '1 hour') as left`, [moveId]), [{ left: true }]),
  );
});
