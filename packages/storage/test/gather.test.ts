import { newPollId } from '@eloquentpoll/polls';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { gather } from '../src/gather.ts';
import {
  acceptPoll,
  balanceOf,
  checkLedger,
  claimPoll,
  finishPoll,
  openStorage,
  pollAccepter,
  pollClaimer,
  pollFinisher,
  type Storage,
  StorageUnavailable,
} from '../src/index.ts';
import { acceptance, deadlocks, finished, funded, GENEROUS, newPoll, open, spec, USD, vote } from './fixtures.ts';

// slow: 3 s

async function claimed(storage: Storage, accountId: string) {
  const request = acceptance(accountId, { providerMaxU: 1_000, ceiling: { hourU: 10n * USD, dayU: 10n * USD } });
  await acceptPoll(storage, request);
  const claim = await claimPoll(storage, request.poll.id, 'worker');
  return { ...finished(claim!), payer: accountId };
}

t.test('polls of several accounts end in one transaction, each with its own outcome', async (t) => {
  const { storage, query } = await open(t);
  const accounts = await Promise.all([1, 2, 3].map(() => funded(storage, 20n * USD)));
  const polls = [];
  for (const accountId of [...accounts, ...accounts].toReversed()) polls.push(await claimed(storage, accountId));
  const stale = { ...(await claimed(storage, accounts[0]!)), epoch: 7 };
  const finish = pollFinisher(storage);
  const outcomes = await Promise.all([...polls, stale].map((poll) => finish(poll)));
  t.same(
    outcomes.map(({ outcome }) => outcome),
    [...polls.map(() => 'stored'), 'fenced'],
  );
  t.match(
    await query('select count(distinct xmin::text)::int as transactions, count(*)::int as results from results'),
    [{ transactions: 1, results: 6 }],
  );
  for (const accountId of accounts) t.match(await balanceOf(storage, accountId), { usageU: 1_602n });
  t.match(
    await query('select sum(hour_held_u)::int as held_u from provider_spend'),
    [{ held_u: 1_000 }],
    'of the fenced one',
  );
  t.same(await checkLedger(storage), []);
});

t.test('one that cannot be stored leaves the others stored', async (t) => {
  const { storage } = await open(t);
  const accounts = await Promise.all([1, 2, 3].map(() => funded(storage, 20n * USD)));
  const polls = await Promise.all(accounts.map((accountId) => claimed(storage, accountId)));
  const broken = { ...polls[1]!, votes: [vote(0), vote(0)] };
  const finish = pollFinisher(storage);
  const ends = await Promise.allSettled([polls[0]!, broken, polls[2]!].map((poll) => finish(poll)));
  t.same(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
    'two votes of one seat',
  );
  t.match(await balanceOf(storage, accounts[1]!), { usageU: 0n });
  t.match(await finish(polls[1]!), { outcome: 'stored' }, 'nothing of the failed try is left');
  t.same(await checkLedger(storage), []);
});

t.test('ends that wait for the rows of an account do not keep those of other accounts waiting', async (t) => {
  const { storage, query } = await open(t);
  const [locked, free] = [await funded(storage, 20n * USD), await funded(storage, 20n * USD)];
  const [one, other, third] = [
    await claimed(storage, locked),
    await claimed(storage, locked),
    await claimed(storage, free),
  ];
  const finish = pollFinisher(storage);
  await query('begin');
  await query('select from balances where account_id = $1 for update', [locked]);
  const waiting = async () => {
    const [row] = await query<{ n: number }>(
      'select count(distinct pid)::int as n from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))',
    );
    return row!.n;
  };
  const ofOne = finish(one);
  await eventually('the first end waits', async () => (await waiting()) >= 1);
  const ofOther = finish(other);
  const order: string[] = [];
  const both = Promise.all([ofOne, ofOther]).then(() => order.push('locked'));
  await eventually('so does the second', async () => (await waiting()) >= 1 && !order.includes('locked'));
  t.match(await finish(third), { outcome: 'stored' });
  t.same(order, [], 'while both are locked');
  await query('commit');
  await both;
  t.same(await checkLedger(storage), []);
});

t.test('what its question made fail is charged by itself', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 20n * USD);
  const faulty = async () => {
    const poll = await claimed(storage, accountId);
    const cost = { estimated_u: 60, max_u: 60, fault_u: 60 };
    const freeFailures = { atLeastU: 100n, sharePpm: 0 };
    return { ...poll, freeFailures, votes: [vote(0), vote(1, { option: null, error: 'refusal', billed_u: 0, cost })] };
  };
  const finish = pollFinisher(storage);
  await Promise.all([await faulty(), await faulty()].map((poll) => finish(poll)));
  t.match(await query('select fault_u::int, free_u::int, charged_u::int from caller_days'), [
    { fault_u: 120, free_u: 100, charged_u: 20 },
  ]);
  t.same(await checkLedger(storage), []);
});

t.test('an end of several polls and that of a free poll count their labels one after the other', async (t) => {
  const { url, storage, query } = await open(t);
  const accountId = await funded(storage, 20n * USD);
  const running = async (metadata: Record<string, string>, free = false) => {
    const poll = newPoll(accountId, { metadata, spec: { ...spec, panel_name: free ? 'free' : 'broad' } });
    await acceptPoll(storage, free ? { poll, holdU: 900n, free: { dailyCapU: USD } } : { poll, holdU: USD });
    return finished((await claimPoll(storage, poll.id, 'worker'))!, { votes: [] });
  };
  const [last, first, free] = [
    await running({ z: '1' }),
    await running({ a: '1' }),
    await running({ a: '1', z: '1' }, true),
  ];
  const transaction = openStorage({ databaseUrl: url, maxConnections: 1, ...GENEROUS });
  await transaction.call('begin', []);
  await finishPoll(transaction, last);
  const ofFree = finishPoll(storage, free);
  await eventually('the free poll waits', async () => {
    const [row] = await query<{ n: number }>(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return row!.n > 0;
  });
  t.match(await finishPoll(transaction, first), { outcome: 'stored' }, 'nothing that the free poll has is wanted');
  await transaction.call('commit', []);
  t.match(await ofFree, { outcome: 'stored' });
  t.match(await query('select name, polls::int from usage_labels order by name'), [
    { name: 'a', polls: 2 },
    { name: 'z', polls: 2 },
  ]);
  await Promise.all([transaction, storage].map((each) => each[Symbol.asyncDispose]()));
  t.equal(await deadlocks(query), 0);
});

t.test('calls gather while others are under way, as many as may', async (t) => {
  const sent: string[][] = [];
  const isAnswered = Promise.withResolvers<void>();
  const send = async (ids: readonly string[]) => {
    sent.push([...ids]);
    await isAnswered.promise;
    return ids.map((id) => `${id}!`);
  };
  const call = gather({ together: send, alone: async (id: string) => (await send([id]))[0]!, max: 3, atOnce: 1 });
  const ids = Array.from({ length: 5 }, () => newPollId());
  const first = call(ids[0]!);
  await eventually('the first is under way', () => sent.length === 1);
  const others = ids.slice(1).map(call);
  isAnswered.resolve();
  t.same(
    await Promise.all([first, ...others]),
    ids.map((id) => `${id}!`),
  );
  t.same(sent, [[ids[0]], ids.slice(1, 4), ids.slice(4)]);
});

t.test(
  'no connection for a joint call: each of its items gets that answer at once, and nothing counts as lost',
  async (t) => {
    const { storage } = await open(t);
    const accountId = await funded(storage, 20n * USD);
    const polls = await Promise.all([1, 2, 3].map(() => claimed(storage, accountId)));
    const away = new StorageUnavailable('no connection', { wasSent: false });
    let calls = 0;
    const call = async () => {
      calls += 1;
      throw away;
    };
    const heard: unknown[] = [];
    const unreachable = { ...storage, call };
    const claim = pollClaimer(unreachable, undefined, (error) => heard.push(error));
    const finish = pollFinisher(unreachable);
    const limits = { running: 100, waiting: 95 };
    const accept = pollAccepter(
      unreachable,
      (_, accepts) => accepts(),
      (error) => heard.push(error),
    );
    for (const [what, all] of [
      ['claims', () => polls.map(({ id }) => claim(id, 'worker'))],
      ['ends', () => polls.map((poll) => finish(poll))],
      [
        'accepts',
        () =>
          polls.map(() => accept(acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId }), limits }))),
      ],
    ] as const) {
      calls = 0;
      const answers = await Promise.allSettled(all());
      t.ok(
        answers.every((answer) => answer.status === 'rejected' && answer.reason === away),
        what,
      );
      t.equal(calls, 1, what);
    }
    t.same(heard, []);
  },
);
