import { randomBytes } from 'node:crypto';
import { WEBHOOK_DATA } from '@eloquentpoll/contracts';
import { sql } from 'kysely';
import t from 'tap';
import {
  acceptPoll,
  bury,
  cancelPoll,
  checkLedger,
  claimPoll,
  closeAccount,
  creditAccount,
  emptyClosedAccounts,
  finishPoll,
  insertKey,
  insertWebhookEndpoint,
  inTransaction,
  readUsageGroups,
  readUsageTotal,
  reverseCredit,
  setLowBalance,
  type UsageGrouping,
} from '../src/index.ts';
import {
  acceptance,
  finished,
  funded,
  newPoll,
  open,
  response,
  spec,
  together,
  USD,
  unique,
  vote,
} from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 5 s

const { storage, query } = await open(t, { maxConnections: 8 });

const ALWAYS = { from: '2020-01-01', to: '2099-12-31', maxGroups: 1_000 };
const groupsOf = async (accountId: string, groupBy: UsageGrouping, more: object = {}) =>
  (await readUsageGroups(storage, accountId, { ...ALWAYS, groupBy, ...more })).groups;

interface Outcome {
  billedU?: number;
  end?: 'completed' | 'partial' | 'failed' | 'canceled' | 'buried' | 'free';
  poll?: Parameters<typeof newPoll>[1];
  savedU?: number;
}

async function run(accountId: string, { billedU = 500, end = 'completed', poll: more = {}, savedU = 0 }: Outcome) {
  const isFree = end === 'free';
  const panel = isFree ? { spec: { ...spec, panel_name: 'free' as const } } : {};
  const poll = newPoll(accountId, { tenant: accountId, ...panel, ...more });
  const free = isFree ? { free: { dailyCapU: 10n * USD } } : {};
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n, ...free }));
  if (end === 'canceled') return cancelPoll(storage, accountId, poll.id);
  const claim = await claimPoll(storage, poll.id, 'worker');
  if (end === 'buried') return bury(storage, { ...claim!, reason: 'test' });
  const hasFailed = end === 'failed';
  const option = hasFailed ? null : 0;
  const votes = [vote(0, { option, ...(hasFailed && { error: 'timeout' }), billed_u: hasFailed ? 0 : billedU })];
  const status = end === 'partial' || hasFailed ? end : 'success';
  return finishPoll(storage, finished(claim!, { votes, response: response({ status }), savedU }));
}

t.test('usage is what the ledger captured, whatever polls came to and however they end at once', async (t) => {
  const accounts = await Promise.all([1, 2, 3].map(() => funded(storage, 100n * USD)));
  const keys = await Promise.all(
    accounts.map(async (accountId) => {
      const { id } = await insertKey(storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_' });
      return id;
    }),
  );
  const ends = ['completed', 'completed', 'partial', 'failed', 'canceled', 'buried', 'free', 'completed'] as const;
  await together(240, 8, (index) => {
    const who = index % accounts.length;
    const keyId = index % 4 === 0 ? undefined : keys[who];
    const metadata = { customer: `c${index % 5}`, run: 'nightly' };
    const poll = { keyId, metadata, entryPoint: index % 2 ? 'polls' : 'mcp' };
    return run(accounts[who]!, { end: ends[index % ends.length]!, billedU: 100 + index, poll, savedU: 7 });
  });
  t.same(await checkLedger(storage), []);
  t.same(await wholeCheck(storage), []);
  for (const accountId of accounts) {
    const [books] = await query<{ used: string; ended: number }>(
      `select used_u::text as used, (select count(*)::int from polls where account_id = $1) as ended
         from balances where account_id = $1`,
      [accountId],
    );
    const total = await readUsageTotal(storage, accountId, ALWAYS);
    t.match(total, { polls: books!.ended, costU: BigInt(books!.used) });
    t.equal(total.completed + total.failed, total.polls);
    t.match(total, { canceled: 10, splitOrPartial: 10, failed: 30 });
    t.equal(total.savedU, 7n * 60n, 'without those that a worker did not end');
    for (const groupBy of ['day', 'key', 'preset', 'surface', { metadata: 'customer' }] as UsageGrouping[]) {
      const groups = await groupsOf(accountId, groupBy);
      const sum = (name: 'polls' | 'failed') => groups.reduce((all, group) => all + group[name], 0);
      t.equal(
        groups.reduce((all, { costU }) => all + costU, 0n),
        total.costU,
        JSON.stringify(groupBy),
      );
      t.same([sum('polls'), sum('failed')], [total.polls, total.failed]);
    }
    t.equal((await groupsOf(accountId, { metadata: 'customer' })).length, 5);
    t.equal((await groupsOf(accountId, { metadata: 'unknown' })).length, 0);
  }
});

t.test('storing an end twice counts it once, and one that is fenced off not at all', async (t) => {
  const accountId = await funded(storage, USD);
  const poll = newPoll(accountId, { tenant: accountId, metadata: { a: 'b' } });
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
  const claim = await claimPoll(storage, poll.id, 'worker');
  await finishPoll(storage, finished({ ...claim!, epoch: claim!.epoch + 1 }));
  t.match(await readUsageTotal(storage, accountId, ALWAYS), { polls: 0 });
  for (let i = 0; i < 3; i++) await finishPoll(storage, finished(claim!));
  t.match(await readUsageTotal(storage, accountId, ALWAYS), { polls: 1 });
  t.match(await groupsOf(accountId, { metadata: 'a' }), [{ group: 'b', polls: 1 }]);
});

t.test('medians are within 5 percent', async (t) => {
  const accountId = await funded(storage, 100n * USD);
  const costs = [0, 1, 2, 3, 17, 90, 333, 999, 4_321];
  for (const [i, billedU] of costs.entries()) {
    await run(accountId, { billedU });
    const sorted = costs.slice(0, i + 1).toSorted((a, b) => a - b);
    const median = sorted[Math.ceil(sorted.length / 2) - 1]!;
    const { medianCostU, medianMs } = await readUsageTotal(storage, accountId, ALWAYS);
    t.ok(Math.abs(medianCostU! - median) <= 0.05 * median, `${medianCostU} for ${median}`);
    t.type(medianMs, 'number');
  }
  await run(accountId, { end: 'buried' });
  t.equal((await readUsageTotal(storage, accountId, ALWAYS)).failed, 1, 'which has no cost to count');
  const buckets = await query<{ amount: number; bucket: number }>(
    `select n as amount, usage_bucket(n) as bucket from (select (1.31 ^ g)::bigint as n from generate_series(0, 60) g) s`,
  );
  for (const { amount, bucket } of buckets) {
    const middle = 2 ** ((bucket - 0.5) / 8);
    t.ok(Math.abs(middle / Number(amount) - 1) < 0.0451, `${amount} is in bucket ${bucket}`);
  }
});

t.test('days, values and names have bounds, and what is beyond them is summed up', async (t) => {
  const accountId = await funded(storage, 100n * USD);
  const day = "(now() at time zone 'utc')::date";
  await query(`insert into usage_names values ($1, ${day}, 'customer', 998)`, [accountId]);
  await query(`insert into usage_names select $1, ${day}, 'n' || n, 1 from generate_series(1, 47) n`, [accountId]);
  for (const [customer, other] of [
    ['c1', 'x'],
    ['c2', 'y'],
    ['c3', 'x'],
    ['c1', 'x'],
    ['c4', 'z'],
  ])
    await run(accountId, { poll: { metadata: { customer: customer!, other: other!, third: 'a', fourth: 'b' } } });
  t.same(
    (await groupsOf(accountId, { metadata: 'customer' })).map(({ group, polls }) => [group, polls]),
    [
      ['(other)', 2],
      ['c1', 2],
      ['c2', 1],
    ],
  );
  t.equal((await groupsOf(accountId, { metadata: 'other' })).length, 3);
  t.equal((await groupsOf(accountId, { metadata: 'fourth' })).length, 1, 'the 50th name, by the alphabet');
  t.equal((await groupsOf(accountId, { metadata: 'third' })).length, 0, 'the 51st');
  const top = await groupsOf(accountId, { metadata: 'other' }, { maxGroups: 2 });
  t.same(
    top.map(({ group, polls, costU }) => [group, polls, costU]),
    [
      ['x', 3, 1_500n],
      [null, 2, 1_000n],
    ],
  );
});

t.test('a closed account keeps its sums and loses its labels, also those of polls that ended later', async (t) => {
  const accountId = await funded(storage, USD);
  await run(accountId, { poll: { metadata: { customer: 'a person' } } });
  const poll = newPoll(accountId, { tenant: accountId, metadata: { customer: 'another' } });
  await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
  const claim = await claimPoll(storage, poll.id, 'worker');
  await closeAccount(storage, accountId);
  await emptyClosedAccounts(storage);
  const retaken = await claimPoll(storage, poll.id, 'another worker');
  await finishPoll(storage, finished(retaken ?? claim!));
  while ((await emptyClosedAccounts(storage)).length > 0);
  await emptyClosedAccounts(storage);
  t.same(await query('select * from usage_labels where account_id = $1', [accountId]), []);
  t.same(await query('select * from usage_names where account_id = $1', [accountId]), []);
  t.equal((await readUsageTotal(storage, accountId, ALWAYS)).polls, 2);
  t.same(await wholeCheck(storage), []);
});

t.test('a balance that falls below its mark, and a limit that refuses, are said once', async (t) => {
  const accountId = await funded(storage, 10n * USD);
  const eventTypes = ['balance.low', 'key.limit_reached'] as const;
  const endpoint = {
    id: `we_${randomBytes(16).toString('hex')}`,
    url: 'https://hooks.example/',
    eventTypes,
    description: '',
    secret: 'sealed',
  };
  await insertWebhookEndpoint(storage, accountId, endpoint);
  const events = async () =>
    (
      await query<{ type: string; data: Record<string, unknown> }>(
        'select type, data from webhook_events where account_id = $1 order by id',
        [accountId],
      )
    ).map(({ type, data }) => ({ type, ...data }));
  await setLowBalance(storage, accountId, 9_999_000n);
  await run(accountId, { billedU: 1_000 });
  t.same(await events(), [], 'exactly as much');
  await together(6, 6, () => run(accountId, { billedU: 1 }));
  t.match(await events(), [{ type: 'balance.low', balance_usd: 9.998999, low_balance_usd: 9.999 }]);
  await creditAccount(storage, { accountId, amountU: USD, source: 'operator', idem: unique() });
  await reverseCredit(storage, { accountId, amountU: USD, source: 'operator', idem: unique() });
  t.equal((await events()).length, 2, 'again after it was filled');

  const limit = { limitU: 500n, reset: 'daily' as const };
  const { id: keyId } = await inTransaction(storage, (tx) =>
    insertKey(tx, { accountId, hash: randomBytes(32), prefix: 'ep_k_', label: 'nightly', limit }),
  );
  const ask = async () => {
    const poll = newPoll(accountId, { tenant: accountId, keyId });
    return (await acceptPoll(storage, acceptance(accountId, { poll, holdU: 501n }))).kind;
  };
  t.same(await Promise.all([ask(), ask(), ask()]), ['key_limit', 'key_limit', 'key_limit']);
  const said = (await events()).filter(({ type }) => type === 'key.limit_reached');
  t.match(said, [
    { type: 'key.limit_reached', key_id: keyId, label: 'nightly', limit_usd: 0.0005, limit_reset: 'daily' },
  ]);
  t.equal(said.length, 1);
  await query('update key_limits set period = period - 1, reached_in = reached_in - 1 where key_id = $1', [keyId]);
  await ask();
  await ask();
  t.equal((await events()).length, 4, 'once a day');
  for (const { type, ...data } of await events()) {
    const named = Object.keys(WEBHOOK_DATA[type as (typeof eventTypes)[number]].properties);
    t.same(
      Object.keys(data).toSorted(),
      named.filter((name) => !name.endsWith('_url')).toSorted(),
      `${type}, as published`,
    );
  }
});

t.test('deleting a poll reads few others that have its metadata, however many the day before had', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 100n * USD);
  const metadata = { customer: 'one of many' };
  const ended = async (accountId: string) => {
    const poll = newPoll(accountId, { tenant: accountId, metadata });
    await acceptPoll(storage, acceptance(accountId, { poll, holdU: 10_000n }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'worker'))!));
    return poll.id;
  };
  const planted = await ended(await funded(storage, 100n * USD));
  await query(
    `with planted as (
       insert into polls
       select (jsonb_populate_record(p, jsonb_build_object(
         'id', left(p.id, length(p.id) - 8) || lpad(n::text, 8, '0'), 'result_id', left(p.result_id, length(p.result_id) - 8) || lpad(n::text, 8, '0'),
         'account_id', $2::uuid, 'tenant', $2::uuid,
         'created_at', p.created_at - interval '1 day', 'finished_at', p.finished_at - interval '1 day'))).*
         from polls p, generate_series(1, 5000) n where p.id = $1 returning id, created_at)
     insert into poll_labels (account_id, label, created_at, poll_id)
     select $2::uuid, label_of('customer', 'one of many'), created_at, id from planted`,
    [planted, accountId],
  );
  const ids = [await ended(accountId), await ended(accountId)];
  await query('analyze polls, poll_labels');
  const rows = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'polls', async () => {
      const emptied = await sql`select empty_polls(array[${ids[0]!}]) as id`.execute(tx.db);
      t.same(emptied.rows, [{ id: ids[0] }]);
    }),
  );
  t.ok(rows > 1 && rows < 50, `${rows} rows of polls`);
  const labels = () =>
    query("select polls from usage_labels where value = 'one of many' and account_id = $1", [accountId]);
  t.same(await labels(), [{ polls: 2 }]);
  await query('select empty_polls(array[$1])', [ids[1]]);
  t.same(await labels(), [], 'those of the day before do not count for this one');
});
