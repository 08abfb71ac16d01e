import { ownerUrl } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  capture,
  checkLedger,
  closeBooks,
  creditAccount,
  hold,
  openStorage,
  reverseCredit,
  voidHold,
} from '../src/index.ts';
import { type Fixture, funded, open, USD } from './fixtures.ts';
import { populate, withDamage } from './ledger-damage.ts';
import { wholeCheck } from './whole-check.ts';

// Each step of closing the books: what a page takes, what it leaves, and what it notes about it.

const SUMS = 'account_id, posted_u, used_u, held_u, reversed_u, card_u, card_reversed_u, chain_u';

/** Everything that a transfer can add, in an order in which holds begin and end on the same page and on others. */
async function everyKind({ storage }: Fixture, accountId: string, other: string, round: number): Promise<void> {
  const card = { accountId, source: 'card', amountU: USD } as const;
  const held = async (name: string) => hold(storage, { accountId: other, amountU: 100n, idem: `${name}${round}` });
  await held('long');
  await creditAccount(storage, { ...card, idem: `card:cs_${round}` });
  await held('short');
  await capture(storage, `short${round}`, 60n);
  await reverseCredit(storage, { ...card, idem: `card:cs_${round}:reversed:1` });
  await held('never');
  await held('next');
  await creditAccount(storage, { ...card, amountU: USD / 2n, idem: `card:cs_${round}:reinstated:2` });
  await voidHold(storage, `next${round}`);
  await capture(storage, `long${round}`, 100n);
  await creditAccount(storage, { accountId, source: 'chain', amountU: USD, idem: `deposit:${round}` });
}

t.test(
  'after each page its sums and the open holds are those of all that is closed, with pages of any size',
  async (t) => {
    const fixture = await open(t);
    const { storage, query } = fixture;
    const accountId = await funded(storage, USD);
    const other = await funded(storage, USD);
    for (const round of [1, 2]) await everyKind(fixture, accountId, other, round);
    const [newest] = await query<{ id: number }>('select max(id)::int as id from transfers');
    const last = newest!.id;
    for (const size of [1, 2, 3, 5]) {
      await query('begin');
      for (let to = 0; to < last; ) {
        t.match(await query(`select close_books(${last}, 1, ${size}) as step`), [{ step: 'page' }]);
        const from = to + 1;
        to = Math.min(to + size, last);
        t.same(
          await query(`select first_id::int, last_id::int, transfers from ledger_pages order by last_id desc limit 1`),
          [{ first_id: from, last_id: to, transfers: to - from + 1 }],
          'the next transfers, all of them',
        );
        t.same(
          await query('select hold_id from ledger_open_holds order by 1'),
          await query(`select id as hold_id from transfers h where kind = 'hold' and id <= ${to}
          and not exists (select from transfers r where r.pending_id = h.id and r.id <= ${to}) order by 1`),
          `holds that no page up to ${to} resolves`,
        );
        const expected = await query(`select ${SUMS} from sum_transfers(0, ${to}) order by account_id`);
        t.same(await query(`select ${SUMS} from ledger_sums order by account_id`), expected);
        t.same(await query(`select ${SUMS} from ledger_day_sums order by account_id`), expected);
      }
      t.match(await query(`select close_books(${last}, 0, ${size}) as step`), [{ step: null }], 'nothing is left');
      await query('rollback');
    }
  },
);

t.test('of today exactly as many as a page must have are closed, one less are not', async (t) => {
  const { storage, query } = await open(t);
  const closed = () => query('select transfers, proved from ledger_pages');
  for (let index = 0; index < 3; index++) await funded(storage, USD);
  await query('begin');
  t.same(await query('select close_books(3, 4, 10) as step'), [{ step: null }]);
  t.same(await closed(), []);
  t.same(await query('select close_books(3, 3, 10) as step'), [{ step: 'page' }]);
  t.same(await closed(), [{ transfers: 3, proved: true }]);
  await query('rollback');
});

t.test('of a day that is over all are closed, however few, and the day is sealed', async (t) => {
  const { storage, query } = await open(t);
  await query("alter table transfers alter created_at set default now() - interval '1 day'");
  await funded(storage, USD);
  t.match(await closeBooks(storage, { minPage: 1_000 }), { pages: 1, seals: [{ hash: /./ }] });
  t.match(await closeBooks(storage, { minPage: 1_000 }), { pages: 0, seals: { length: 0 } });
  t.same(await wholeCheck(storage), []);
});

t.test('a transfer that is too late for its day counts to the day after the sealed one', async (t) => {
  const { storage, query } = await open(t);
  const dated = (days: number) =>
    query(`alter table transfers alter created_at set default now() - ${days} * interval '1 day'`);
  await dated(5);
  await funded(storage, USD);
  t.match(await closeBooks(storage), { pages: 1, seals: [{}] });
  await funded(storage, USD);
  t.match(await closeBooks(storage), { pages: 1, seals: [{}] }, 'alone');
  await dated(1);
  await funded(storage, USD);
  await dated(5);
  await funded(storage, USD);
  t.match(await closeBooks(storage), { pages: 1, seals: [{}] }, 'after one of a later day');
  const days = await query<{ ago: number }>(
    `select (now() at time zone 'utc')::date - day as ago from ledger_pages order by last_id`,
  );
  t.same(
    days.map(({ ago }) => ago),
    [5, 4, 1],
  );
  t.same(await wholeCheck(storage), []);
});

t.test('a page over damage is closed, is not proved, and is read again by every check', async (t) => {
  const fixture = await open(t);
  const { storage, query, url } = fixture;
  await using owner = openStorage({ databaseUrl: ownerUrl(url), maxConnections: 1, connectTimeoutMs: 30_000 });
  await populate(fixture);
  await query('alter table transfers disable trigger transfers_append_only');
  await query("update transfers set amount_u = amount_u - 1 where kind = 'void'");
  t.match(await closeBooks(storage, { minPage: 1 }), { pages: 1 });
  t.same(await query('select proved from ledger_pages'), [{ proved: false }]);
  t.match(await checkLedger(storage), [{ rule: 'resolution' }]);
  t.same(await withDamage(owner, 'update ledger_pages set proved = true', checkLedger), []);
});

async function client(t: Test, { url }: Fixture): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: ownerUrl(url) });
  await opened.connect();
  t.teardown(() => opened.end());
  return opened;
}

const finalId = async (by: pg.Client, waitMs: number): Promise<number | null> =>
  (await by.query<{ id: number | null }>(`select final_transfer_id(${waitMs})::int as id`)).rows[0]!.id;

t.test('no id is final while a writer holds the table, even one that has not written yet', async (t) => {
  const fixture = await open(t);
  await funded(fixture.storage, USD);
  const [writer, closer] = [await client(t, fixture), await client(t, fixture)];
  await writer.query('begin');
  await writer.query('lock table transfers in row exclusive mode');
  t.equal(await finalId(closer, 20), null);
  await writer.query('rollback');
  t.equal(await finalId(closer, 20), 1);
});

t.test('a writer that ends in time is waited for, without using the processor meanwhile', async (t) => {
  const fixture = await open(t);
  await funded(fixture.storage, USD);
  const [writer, closer] = [await client(t, fixture), await client(t, fixture)];
  await writer.query('begin');
  await writer.query('lock table transfers in row exclusive mode');
  const answer = finalId(closer, 20_000);
  await eventually('it sleeps between two looks at the locks', async () => {
    const [row] = await fixture.query<{ sleeps: boolean }>(
      "select exists (select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep') as sleeps",
    );
    return row!.sleeps;
  });
  await writer.query('commit');
  t.equal(await answer, 1);
});

t.test('a transaction that only reads transfers, or the one that asks, is not waited for', async (t) => {
  const fixture = await open(t);
  await funded(fixture.storage, USD);
  const [reader, closer] = [await client(t, fixture), await client(t, fixture)];
  await reader.query('begin');
  await reader.query('select from transfers');
  t.equal(await finalId(closer, 20), 1);
  await closer.query('begin');
  await closer.query('lock table transfers in row exclusive mode');
  t.equal(await finalId(closer, 20), 1);
  await closer.query('rollback');
});

t.test('without any transfer nothing is final', async (t) => {
  const fixture = await open(t);
  t.equal(await finalId(await client(t, fixture), 20), 0);
});
