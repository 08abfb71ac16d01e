import { ownerUrl } from '@eloquentpoll/testkit/database';
import { sql } from 'kysely';
import t from 'tap';
import { checkLedger, closeBooks, openStorage, type Queries, type Storage } from '../src/index.ts';
import { type Fixture, open, unique } from './fixtures.ts';
import { populate, UNLOCK, withDamage, withNames } from './ledger-damage.ts';

// The auditor reads the books in ranges: each transfer, poll and page belongs to exactly one of them.

const CARD = '00000000-0000-4000-8000-000000000004';
const CHAIN = '00000000-0000-4000-8000-000000000005';
const OPERATOR = '00000000-0000-4000-8000-000000000003';
const REVENUE = '00000000-0000-4000-8000-000000000002';

interface Found {
  rule: string;
  subject: string;
}

const read = async (queries: Queries, call: string): Promise<Found[]> =>
  (await sql<Found>`select rule, subject from ${sql.raw(call)}`.execute(queries.db)).rows;

const subjects = (found: readonly Found[], rule: string): string[] =>
  found.filter((one) => one.rule === rule).map(({ subject }) => subject);

const ownerOf = ({ url }: Fixture): Storage =>
  openStorage({ databaseUrl: ownerUrl(url), maxConnections: 1, connectTimeoutMs: 30_000 });

/** A transfer from an account that there is not: one finding, that of this transfer. */
const damageTo = (id: number) => `${UNLOCK} alter table transfers drop constraint transfers_rules;
  update transfers set debit = gen_random_uuid() where id = ${id}`;

t.test('a transfer is checked in the range that ends with it, not in the one that begins after it', async (t) => {
  const fixture = await open(t);
  await using owner = ownerOf(fixture);
  await populate(fixture);
  const found = await withDamage(owner, damageTo(5), async (queries) => ({
    before: subjects(await read(queries, 'check_transfers(3, 4, true)'), 'parties'),
    own: subjects(await read(queries, 'check_transfers(4, 5, true)'), 'parties'),
    after: subjects(await read(queries, 'check_transfers(5, 6, true)'), 'parties'),
  }));
  t.same(found, { before: [], own: ['5'], after: [] });
});

t.test('a poll and a vote are checked in the range that ends with their id, not in the one after it', async (t) => {
  const fixture = await open(t);
  await using owner = ownerOf(fixture);
  const names = await populate(fixture);
  const poll = (id: string) => `
    insert into polls (id, result_id, status, spec, entry_point, lease_until, deadline_at, finished_at)
    values ('${id}', 'EP-${id}', 'failed', '{}', 'rest', now(), now(), now());`;
  const hold = (id: string) => `
    insert into transfers (idem, kind, debit, credit, amount_u, poll_id)
    values ('hold:${id}', 'hold', '$user', '${REVENUE}', 5, '${id}');`;
  const strayVote = (id: string) => `
    insert into votes select '${id}', seat, model_id, null, 'error', 1, 0, 0, 0, 0, 0, 1, false, labels
      from votes where poll_id = '$done' and seat = 0;`;
  const damages: [string, (id: string) => string][] = [
    ['poll_hold', poll],
    ['poll_settled', (id) => poll(id) + hold(id)],
    ['vote_without_poll', strayVote],
  ];
  for (const [rule, damage] of damages) {
    const planted = ['ps_0a', 'ps_0b', 'ps_0c'].map(damage).join('\n');
    const found = await withDamage(owner, withNames(planted, names), (queries) =>
      read(queries, `check_polls('ps_0a', 'ps_0b')`),
    );
    t.same(found, [{ rule, subject: 'ps_0b' }], rule);
  }
});

/** So many days apart. */
async function twoSealedDays(fixture: Fixture, apart = 1): Promise<void> {
  const { storage, query } = fixture;
  await populate(fixture);
  await query('alter table transfers disable trigger transfers_append_only');
  await query(
    `update transfers set created_at = created_at - case when id <= 7 then ${apart} else 0 end * interval '1 day' - interval '1 day'`,
  );
  await query('alter table transfers enable trigger transfers_append_only');
  const { seals } = await closeBooks(storage, { maxPage: 4, forMs: 60_000 });
  if (seals.length !== 2) throw new Error(`sealed ${seals.length} days instead of 2`);
}

t.test('the first and the last transfer of a page are checked with this page alone', async (t) => {
  const fixture = await open(t);
  await using owner = ownerOf(fixture);
  await twoSealedDays(fixture);
  const pages = await fixture.query<{ first: number; last: number }>(
    'select first_id::int as first, last_id::int as last from ledger_pages order by 1',
  );
  t.ok(pages.length > 3);
  for (const page of pages.slice(1, 3))
    for (const id of [page.first, page.last]) {
      const found = await withDamage(owner, damageTo(id), async (queries) => {
        const found: string[] = [];
        for (const { last } of pages)
          for (const subject of subjects(await read(queries, `check_page(${last})`), 'parties'))
            found.push(`page to ${last}: ${subject}`);
        return found;
      });
      t.same(found, [`page to ${page.last}: ${id}`]);
    }
});

for (const apart of [1, 3])
  t.test(
    `a gap before the first page of a day, ${apart} after the last one with pages, is found with this day alone`,
    async (t) => {
      const fixture = await open(t);
      await using owner = ownerOf(fixture);
      await twoSealedDays(fixture, apart);
      const days = await fixture.query<{ day: string; first: number; last: number }>(`
      select day::text, min(first_id)::int as first, min(last_id)::int as last from ledger_pages group by day order by day`);
      const [before, after] = days;
      const gapsOf = (from: string, to: string) => async (queries: Queries) =>
        subjects(await read(queries, `check_seals('${from}', '${to}')`), 'page_gap');
      const gaps = async (queries: Queries) => ({
        before: await gapsOf(before!.day, before!.day)(queries),
        own: await gapsOf(after!.day, after!.day)(queries),
        all: await gapsOf('-infinity', 'infinity')(queries),
      });
      const skipping = `update ledger_pages set first_id = first_id + 1 where first_id = ${after!.first}`;
      const gap = [String(after!.last)];
      t.same(await gaps(fixture.storage), { before: [], own: [], all: [] });
      t.same(await withDamage(owner, skipping, gaps), { before: [], own: gap, all: gap });
    },
  );

t.test('an open hold is listed once, be it the last transfer that is closed or the first that is not', async (t) => {
  const fixture = await open(t);
  await using owner = ownerOf(fixture);
  const names = await populate(fixture);
  const [hold] = await fixture.query<{ id: number }>('select id::int from transfers where idem = $1', [
    `hold:${names.$running}`,
  ]);
  for (const closedTo of [hold!.id - 1, hold!.id]) {
    const ended = `select close_books(${closedTo}, 1, ${closedTo});
      update polls set status = 'failed', finished_at = now() where id = '${names.$running}'`;
    const found = await withDamage(owner, ended, checkLedger);
    t.same(
      found.filter(({ rule }) => rule === 'poll_settled'),
      [{ rule: 'poll_settled', subject: names.$running, found: 'failed, and its hold is open' }],
      `closed up to ${closedTo}`,
    );
  }
});

t.test('what transfers add to each account: two of every kind, counted by hand', async (t) => {
  const { query } = await open(t);
  const account = '11111111-1111-4111-8111-111111111111';
  const moved = async (kind: string, debit: string, credit: string, amounts: number[], idem = 'x') => {
    for (const amount of amounts)
      await query('insert into transfers (idem, kind, debit, credit, amount_u) values ($1, $2, $3, $4, $5)', [
        `${unique('t:')}${idem}`,
        kind,
        debit,
        credit,
        amount,
      ]);
  };
  await moved('credit', OPERATOR, account, [10_000, 20_000]);
  await moved('credit', CARD, account, [1_000, 2_000]);
  await moved('credit', CARD, account, [100, 200], ':reinstated:1');
  await moved('credit', CHAIN, account, [3_000, 4_000]);
  await moved('reversal', account, OPERATOR, [5, 6]);
  await moved('reversal', account, CARD, [300, 400]);
  await moved('hold', account, REVENUE, [51, 52]);
  const resolved = async (kind: 'post' | 'void', amountU: number) => {
    const [hold] = await query<{ id: string }>(
      `insert into transfers (idem, kind, debit, credit, amount_u) values ($1, 'hold', $2, $3, 70) returning id`,
      [unique('hold:'), account, REVENUE],
    );
    await query(
      `insert into transfers (idem, kind, debit, credit, amount_u, pending_id)
       values ('resolve:' || $1::bigint::text, $2, $3, $4, $5, $1)`,
      [hold!.id, kind, account, REVENUE, amountU],
    );
  };
  await resolved('post', 7);
  await resolved('post', 8);
  await resolved('void', 70);
  await resolved('void', 70);
  const sums = (after: string, to: string) =>
    query<Record<string, unknown>>(`
      select account_id, posted_u::int, used_u::int, held_u::int, reversed_u::int, card_u::int, card_reversed_u::int,
             chain_u::int from sum_transfers(${after}, ${to}) order by account_id`);
  const none = { used_u: 0, held_u: 0, reversed_u: 0, card_u: 0, card_reversed_u: 0, chain_u: 0 };
  t.same(await sums('0', '9223372036854775807'), [
    { ...none, account_id: REVENUE, posted_u: 15 },
    { ...none, account_id: OPERATOR, posted_u: -30_000 + 11 },
    { ...none, account_id: CARD, posted_u: -3_300 + 700 },
    { ...none, account_id: CHAIN, posted_u: -7_000 },
    {
      account_id: account,
      posted_u: 30_000 + 3_000 + 300 + 7_000 - 11 - 700 - 15,
      used_u: 15,
      held_u: 103,
      reversed_u: 711,
      card_u: 3_000,
      card_reversed_u: 700 - 300,
      chain_u: 7_000,
    },
  ]);
  const [second] = await query<{ id: string }>('select id from transfers order by id offset 1 limit 1');
  t.match(
    await sums(`${second!.id} - 1`, second!.id),
    [
      { account_id: OPERATOR, posted_u: -20_000 },
      { account_id: account, posted_u: 20_000 },
    ],
    'a range has the transfer that it ends with, and not the one that it begins after',
  );
});
