import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import {
  acceptPoll,
  claimPoll,
  deletePoll,
  finishPoll,
  pruneExpired,
  readUsageGroups,
  type UsageRange,
} from '../src/index.ts';
import { acceptance, type Fixture, finished, funded, newPoll, open, together, USD } from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 4 s

// Usage by metadata is the same whether it is read from days or from the sums of their months.

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

const groupsOf = async ({ storage }: Fixture, accountId: string, range: UsageRange, metadata = 'customer') =>
  readUsageGroups(storage, accountId, { ...range, groupBy: { metadata }, maxGroups: 1_000 });

/** Two names on each of the days before today, with other values each day. */
async function fill({ query }: Fixture, accountId: string, days: number): Promise<void> {
  const day = `(now() at time zone 'utc')::date - d`;
  const figures = 'd, d - 1, 1, 0, 2, 100 * d, d, d * counted_once(1000 + 100 * v), d * counted_once(v)';
  const series = `generate_series(0, ${days}) d, unnest(array['customer', 'team']) name`;
  await query(`insert into usage_names select $1, ${day}, name, 8 from ${series} where d % 9 <> 5`, [accountId]);
  await query(
    `insert into usage_labels select $1, ${day}, name, 'v' || v, ${figures}
       from ${series}, generate_series(1, 40) v where d % 9 <> 5 and (v + d) % 5 = 0 and d > 0`,
    [accountId],
  );
}

t.test('any range, before days are added to their months, in between and afterwards', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const [accountId, other] = [await funded(storage, 0n), await funded(storage, 0n)];
  await fill(fixture, accountId, 130);
  await fill(fixture, other, 40);
  const day = fc.integer({ min: 0, max: 135 });
  const ranges = fc
    .sample(fc.tuple(day, day), 60)
    .map(([a, b]) => ({ from: dayBefore(Math.max(a, b)), to: dayBefore(Math.min(a, b)) }));
  const readAll = async () => {
    const all = [];
    for (const range of ranges) all.push(await groupsOf(fixture, accountId, range));
    return all;
  };
  const before = await readAll();
  t.ok(before.some(({ groups }) => groups.length === 40));
  const summed = async () => (await query('select day from usage_names where summed')).length;
  while ((await summed()) < 60) await query('select sum_usage_months(100)');
  t.same(await readAll(), before, 'some months are half done');
  t.same(await wholeCheck(storage), []);
  while ((await pruneExpired(storage, 1_000)) > 0);
  const left = await query('select distinct day::text from usage_names where not summed order by day');
  t.same(left.at(-1), { day: dayBefore(0) });
  t.ok(left.length <= 2, 'today, and in its first hour yesterday');
  t.same(await readAll(), before);
  t.same(await wholeCheck(storage), []);
  t.equal((await query('select month from usage_label_months where polls <= 0')).length, 0);

  const old = `(date_trunc('month', now() at time zone 'utc' - interval '400 days'))::date`;
  for (const table of ['usage_labels', 'usage_names'])
    await query(
      `update ${table} set day = ${old} where account_id = $1 and day = (now() at time zone 'utc')::date - 7`,
      [other],
    );
  await query(`insert into usage_label_months select account_id, ${old}, name, value, polls, completed, failed, canceled, split_or_partial, cost_u,
                      saved_u, ms_counts, cost_counts from usage_labels where day = ${old}`);
  while ((await pruneExpired(storage, 10)) > 0);
  for (const [table, day] of [
    ['usage_labels', 'day'],
    ['usage_names', 'day'],
    ['usage_label_months', 'month'],
  ])
    t.same(
      await query(`select * from ${table} where ${day} < first_usage_month()`),
      [],
      `${table}: a month that is over`,
    );

  await query(`update usage_label_months set cost_counts = cost_counts + 1 where account_id = $1 and name = 'team'`, [
    other,
  ]);
  const found = await wholeCheck(storage);
  t.ok(found.length > 0);
  for (const violation of found) t.match(violation, { rule: 'usage_months', subject: other });
});

t.test('what a deleted poll takes away is taken from its month too, also while days are being added', async (t) => {
  const fixture = await open(t, { maxConnections: 8 });
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const ids: string[] = [];
  for (let n = 0; n < 24; n++) {
    const poll = newPoll(accountId, { tenant: accountId, metadata: { customer: `c${n % 12}`, run: 'nightly' } });
    await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'worker'))!));
    ids.push(poll.id);
  }
  // As if the first half had ended forty days ago, and the others thirty-nine.
  for (const [part, days] of [
    [ids.slice(0, 12), 40],
    [ids.slice(12), 39],
  ] as const)
    for (const statement of [
      `update polls set finished_at = finished_at - $2 * interval '1 day', created_at = created_at - $2 * interval '1 day' where id = any($1)`,
      `update poll_labels set created_at = created_at - $2 * interval '1 day' where poll_id = any($1)`,
    ])
      await query(statement, [part, days]);
  const halves =
    'polls / 2, completed / 2, failed / 2, canceled / 2, split_or_partial / 2, cost_u / 2, saved_u / 2, ms_counts, cost_counts';
  await query(`insert into usage_labels select account_id, day - 40, name, value, ${halves} from usage_labels`);
  await query(
    `insert into usage_labels select account_id, day - 39, name, value, ${halves} from usage_labels where day = (now() at time zone 'utc')::date`,
  );
  await query(`delete from usage_labels where day = (now() at time zone 'utc')::date`);
  await query(
    `insert into usage_names select account_id, day - ago, name, value_count from usage_names, unnest(array[39, 40]) ago`,
  );
  await query(`delete from usage_names where day = (now() at time zone 'utc')::date`);

  const always = { from: dayBefore(399), to: dayBefore(0) };
  const polls = async (metadata?: string) =>
    (await groupsOf(fixture, accountId, always, metadata)).groups.map(({ group, polls }) => [group, polls]).toSorted();
  t.same(await polls('run'), [['nightly', 24]]);
  // Of c0 to c5 both days, of c6 and c7 the first; meanwhile the days are added to their months.
  const some = [...ids.slice(0, 8), ...ids.slice(12, 18)];
  await together(some.length + 6, 6, async (n) => {
    if (n % 3 === 2) await query('select sum_usage_months(1)');
    else await deletePoll(storage, accountId, some[n - Math.floor(n / 3)]!);
  });
  for (const id of some) await deletePoll(storage, accountId, id);
  while ((await pruneExpired(storage)) > 0);
  t.same(await wholeCheck(storage), []);
  t.same(await polls(), [
    ['c10', 2],
    ['c11', 2],
    ['c6', 1],
    ['c7', 1],
    ['c8', 2],
    ['c9', 2],
  ]);
  for (const id of ids) await deletePoll(storage, accountId, id);
  t.same(await polls(), []);
  for (const table of ['usage_labels', 'usage_label_months', 'usage_names'])
    t.same(await query(`select * from ${table} where account_id = $1`, [accountId]), [], table);
  t.same(await wholeCheck(storage), []);
});
