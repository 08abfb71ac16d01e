import { setTimeout as wait } from 'node:timers/promises';
import { ownerUrl } from '@eloquentpoll/testkit/database';
import pg from 'pg';
import t, { type Test } from 'tap';
import {
  acceptPoll,
  checkLedger,
  checkLedgerInTurn,
  claimPoll,
  closeBooks,
  creditAccount,
  finishPoll,
  openStorage,
  StorageBusy,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  funded,
  newPoll,
  open,
  response,
  together,
  USD,
  unique,
  vote,
} from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 6 s

const grant = (accountId: string) => ({ accountId, amountU: USD, source: 'operator', idem: unique('grant:') }) as const;

async function client(t: Test, { url }: Fixture): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: ownerUrl(url) });
  await opened.connect();
  t.teardown(() => opened.end());
  return opened;
}

const MOVE = "select ledger_move('credit', $1, '00000000-0000-4000-8000-000000000003', 1, $2)";

t.test('no page is closed over an id whose transaction has not ended', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  const slow = await client(t, fixture);
  await slow.query('begin');
  await slow.query(MOVE, [await funded(storage, USD), unique()]);
  await creditAccount(storage, grant(accountId));
  t.match(await closeBooks(storage, { minPage: 1, waitMs: 50 }), { pages: 0 }, 'a later id is visible already');
  await slow.query('commit');
  t.match(await closeBooks(storage, { minPage: 1 }), { pages: 1 });
  t.same(await wholeCheck(storage), []);
});

/** Twelve transactions at a time, which pause between taking an id and committing it, while a day lasts 200 ms. */
async function busyDays(t: Test, fixture: Fixture): Promise<number> {
  const { storage, query } = fixture;
  await query(`alter table transfers alter created_at set default
    '${new Date().toISOString()}'::timestamptz + (now() - '${new Date().toISOString()}') * 432000 - interval '60 days'`);
  const accounts = await Promise.all(Array.from({ length: 4 }, () => funded(storage, USD)));
  const writers = await Promise.all(Array.from({ length: 12 }, () => client(t, fixture)));
  let writing = true;
  const written = together(480, writers.length, async (index) => {
    const writer = writers.pop()!;
    await writer.query('begin');
    await wait(Math.random() * 60);
    // Its own account, so that the writers do not wait for each other.
    await writer.query(`insert into accounts (id) values (gen_random_uuid())`);
    await writer.query(MOVE, [accounts[index % 4], unique()]);
    await wait(Math.random() * 20);
    await writer.query('commit');
    writers.push(writer);
  }).finally(() => {
    writing = false;
  });
  let days = 0;
  while (writing) days += (await closeBooks(storage, { minPage: 1, maxPage: 7 })).seals.length;
  await written;
  await query("insert into balances (account_id) select id from accounts where kind = 'user' on conflict do nothing");
  return days;
}

t.test('a sealed day never changes, although transactions of it end after it', async (t) => {
  const fixture = await open(t);
  t.ok((await busyDays(t, fixture)) >= 3);
  const [late] = await fixture.query<{ n: number }>(`
    select count(*)::int as n from transfers t join ledger_pages p on t.id between p.first_id and p.last_id
     where (t.created_at at time zone 'utc')::date < p.day`);
  t.ok(late!.n > 0, 'some were too late for their day');
  t.same(await wholeCheck(fixture.storage), []);
});

t.test('a sealed day has the sums of its pages, two of which charge one account', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  // Days that are not over, whenever this runs.
  const tomorrow = Date.now() + 86_400_000;
  const dated = (at: number) =>
    query(`alter table transfers alter created_at set default '${new Date(at).toISOString()}'`);
  await dated(tomorrow);
  const accountId = await funded(storage, USD);
  const charged = async (billedU: number) => {
    const poll = newPoll(accountId);
    await acceptPoll(storage, acceptance(accountId, { poll, holdU: 1_000n }));
    return async () => {
      const claim = (await claimPoll(storage, poll.id, 'w'))!;
      const costs = { total_estimated_cost: billedU / 1_000_000 };
      await finishPoll(
        storage,
        finished(claim, { votes: [vote(0, { billed_u: billedU })], response: response({ costs }) }),
      );
    };
  };
  const page = async () => t.match(await closeBooks(storage, { minPage: 1 }), { pages: 1, seals: { length: 0 } });
  await (await charged(300))();
  const endsLater = await charged(50);
  await page();
  await (await charged(7))();
  await endsLater();
  await page();

  await dated(tomorrow + 86_400_000);
  await creditAccount(storage, grant(accountId));
  t.match(await closeBooks(storage, { minPage: 1 }), { pages: 1, seals: [{ hash: /./ }] });
  const [day] = await query<{ from: string; to: string }>(`
    select (min(first_id) - 1)::text as from, max(last_id)::text as to from ledger_pages
     where day = (select max(day) from ledger_seals)`);
  const sums = 'account_id, posted_u, used_u, held_u, reversed_u, card_u, card_reversed_u, chain_u';
  const sealed = await query<Record<string, unknown>>(
    `select ${sums} from ledger_day_sums where day = (select max(day) from ledger_seals) order by account_id`,
  );
  t.same(sealed, await query(`select ${sums} from sum_transfers($1, $2) order by account_id`, [day!.from, day!.to]));
  const own = sealed.find(({ account_id }) => account_id === accountId)!;
  t.match([Number(own.used_u), Number(own.held_u)], [357, 0]);
  // Its transfers are not of the day of its polls here.
  const found = (await wholeCheck(storage)).filter(({ rule }) => rule !== 'usage_cost');
  t.same(found, []);
});

t.test('pages that do not wait for writers miss transfers, and the check says so', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await query(`create or replace function final_transfer_id(p_wait_ms integer) returns bigint language sql as
    'select max(id) from transfers'`);
  const accountId = await funded(storage, USD);
  const slow = await client(t, fixture);
  await slow.query('begin');
  await slow.query(MOVE, [await funded(storage, USD), unique()]);
  await creditAccount(storage, grant(accountId));
  t.match(await closeBooks(storage, { minPage: 1 }), { pages: 1 }, 'over the id of the slow one');
  await slow.query('commit');
  t.not((await wholeCheck(storage)).length, 0);
});

t.test('damage to a closed page is found by a later round and stays until it is repaired', async (t) => {
  const { storage, query } = await open(t);
  for (let index = 0; index < 6; index++) await funded(storage, USD);
  t.match(await checkLedgerInTurn(storage, 0, { minPage: 1, maxPage: 2 }), { pages: 3, violations: { length: 0 } });
  const change = async (by: string) => {
    await query('alter table transfers disable trigger transfers_append_only');
    await query(`update transfers set created_at = created_at ${by} interval '1 hour' where id = 1`);
    await query('alter table transfers enable trigger transfers_append_only');
  };
  const due = () => query('update ledger_checks set took_ms = 0');
  await change('-');
  await due();
  t.match(await checkLedgerInTurn(storage, 0), { violations: [{ rule: 'page' }] });
  t.match(await checkLedger(storage), [{ rule: 'page' }]);
  await change('+');
  await due();
  t.match(await checkLedgerInTurn(storage, 0), { violations: { length: 0 } });
});

t.test('a check that fails is noted and tried less and less often', async (t) => {
  const { query, url } = await open(t);
  await using hasty = openStorage({ databaseUrl: url, lockTimeoutMs: 50, connectTimeoutMs: 30_000 });
  const state = () => query('select failures, failure, checked_at from ledger_checks');
  const later = (seconds: number) =>
    query(`update ledger_checks set attempted_at = attempted_at - ${seconds} * interval '1 second'`);
  const [before] = await state();
  await query('begin');
  await query('lock table balances');
  await t.rejects(checkLedgerInTurn(hasty, 60_000), StorageBusy);
  await query('rollback');
  t.match(await state(), [{ failures: 1, failure: /busy/, checked_at: before!.checked_at }]);
  await later(90);
  t.equal(await checkLedgerInTurn(hasty, 60_000), null, 'a minute and a half later it is not due');
  await query('update ledger_checks set failures = 20');
  await later(13 * 60);
  t.equal(await checkLedgerInTurn(hasty, 60_000), null);
  await later(60);
  t.match(
    await checkLedgerInTurn(hasty, 60_000),
    { violations: { length: 0 } },
    'a quarter of an hour is the longest pause',
  );
  t.match(await state(), [{ failures: 0, failure: null }]);
});

t.test('a process that ends in the middle of a check counts as a failure', async (t) => {
  const { storage, query } = await open(t);
  await query('select begin_ledger_check(60000)');
  t.match(await query('select failures, failure from ledger_checks'), [{ failures: 1, failure: 'it did not end' }]);
  t.equal(await checkLedgerInTurn(storage, 60_000), null);
});

t.test('with too much that is open a round closes pages, proves nothing, and is due again soon', async (t) => {
  const { storage, query } = await open(t);
  for (let index = 0; index < 4; index++) await funded(storage, USD);
  await query("update ledger_checks set checked_at = now() - interval '1 hour'");
  t.match(await checkLedgerInTurn(storage, 60_000, { maxOpen: 1 }), { pages: 0 });
  const old = "behind, checked_at < now() - interval '50 minutes' as unproved from ledger_checks";
  t.match(await query(`select ${old}`), [{ behind: true, unproved: true }]);
  await query("update ledger_checks set attempted_at = attempted_at - interval '10 seconds'");
  t.match(await checkLedgerInTurn(storage, 60_000, { minPage: 1, maxOpen: 1 }), { pages: 1 });
  t.match(await query(`select ${old}`), [{ behind: false, unproved: false }]);
});
