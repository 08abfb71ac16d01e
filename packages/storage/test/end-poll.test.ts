import t from 'tap';
import {
  acceptPoll,
  balanceOf,
  bury,
  checkLedger,
  claimPoll,
  FREE_POOL,
  failuresByCaller,
  finishPoll,
} from '../src/index.ts';
import {
  acceptance,
  claimed,
  type Fixture,
  finished,
  funded,
  newPoll,
  open,
  refused,
  response,
  USD,
  vote,
} from './fixtures.ts';

// slow: 4 s

// What the end of a poll stores and answers besides votes, result and bill.

const POOL = { free: { dailyCapU: 1_000_000n }, holdU: 10_000n };
const NOTHING_FREE = { atLeastU: 0n, sharePpm: 0 };

const costing = (seat: number, maxU: number) =>
  vote(seat, { option: null, error: 'timeout', billed_u: 0, cost: { estimated_u: 0, max_u: maxU, fault_u: 0 } });

const failed = response({ status: 'failed' });

const endedBy = async ({ query }: Fixture, poll: { id: string; epoch: number }, sent: object = response()) => {
  const { votes } = finished(poll);
  const given = JSON.stringify({ ...poll, votes, aborted: [] });
  const [row] = await query(
    'select outcome, votes_u, failed_calls_u, unvoted_u from end_poll($1::jsonb, $2::json, true)',
    [given, JSON.stringify(sent)],
  );
  return row;
};

t.test('a poll that an account pays takes nothing from the free pool', async (t) => {
  const { storage, query } = await open(t);
  await claimed(storage, null, POOL);
  const before = await balanceOf(storage, FREE_POOL);
  const { id, epoch } = await claimed(storage, await funded(storage, USD));
  t.match(await finishPoll(storage, finished({ id, epoch })), { outcome: 'stored', unvotedU: 0 });
  t.same(await balanceOf(storage, FREE_POOL), before);
  t.same(await query("select idem from transfers where idem like 'extra:%'"), []);
});

t.test('calls that were aborted are added up, and without one there are none', async (t) => {
  const { storage, query } = await open(t);
  const aborted = [1, 2].map((seat) => ({
    ...{ seat, model_id: `sim/m${seat}` },
    ...{ calls: seat, estimated_u: 10 * seat, max_u: 100 * seat },
  }));
  const figures = async (id: string) =>
    (await query('select aborted_calls, aborted_cost_u::int, unvoted_u::int from polls where id = $1', [id]))[0];
  const free = await claimed(storage, null, POOL);
  t.match(await finishPoll(storage, finished(free, { votes: [], aborted, response: failed })), { unvotedU: 300 });
  t.same(await figures(free.id), { aborted_calls: 3, aborted_cost_u: 30, unvoted_u: 300 });
  const paid = await claimed(storage, await funded(storage, USD));
  await finishPoll(storage, finished(paid));
  t.same(await figures(paid.id), { aborted_calls: 0, aborted_cost_u: 0, unvoted_u: 0 });
});

t.test('a poll without any vote has cost nothing, and its question made nothing fail', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  const none = { votes: [], response: failed, freeFailures: NOTHING_FREE };
  await finishPoll(storage, finished(await claimed(storage, accountId), none));
  t.same(await query('select provider_cost_u::int from polls'), [{ provider_cost_u: 0 }]);
  t.same(await query('select failed_calls_u::int, total_cost_u::int from results'), [
    { failed_calls_u: 0, total_cost_u: 0 },
  ]);
  t.same(await failuresByCaller(storage, 5), []);
  t.match(await balanceOf(storage, accountId), { availableU: USD, usageU: 0n });

  // Its hold pays for what was aborted as far as it goes, because no vote has used any of it.
  const free = await claimed(storage, null, POOL);
  const aborted = [{ seat: 0, model_id: 'sim/m0', calls: 1, estimated_u: 0, max_u: 25_000 }];
  t.match(await finishPoll(storage, finished(free, { ...none, aborted })), { unvotedU: 25_000 });
  t.same(await query('select unvoted_u::int from polls where id = $1', [free.id]), [{ unvoted_u: 10_000 }]);
  t.same(await checkLedger(storage), []);
});

t.test('calls that a question made fail are not charged where its votes cost the whole hold', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, USD);
  const free = { estimated_u: 0, max_u: 0, fault_u: 0 };
  const votes = [vote(0, { billed_u: 1_000, cost: free }), refused(1, 40)];
  const claim = await claimed(storage, accountId, { holdU: 1_000n });
  t.match(await finishPoll(storage, finished(claim, { votes, freeFailures: NOTHING_FREE })), {
    votes: [{ billed_u: 1_000 }, { billed_u: 0 }],
  });
  t.match(await balanceOf(storage, accountId), { usageU: 1_000n });
  t.match(await failuresByCaller(storage, 5), [{ faultU: 40n, freeU: 40n, chargedU: 0n }]);
});

t.test('where nothing is said to be free, an account pays all that its questions made fail', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 5n * USD);
  await finishPoll(storage, finished(await claimed(storage, accountId), { votes: [vote(0, { billed_u: 1_000_000 })] }));
  const end = finished(await claimed(storage, accountId), { votes: [refused(0, 40)], response: failed });
  t.match(await finishPoll(storage, end), { votes: [{ billed_u: 40 }] });
  t.match(await balanceOf(storage, accountId), { usageU: 1_000_040n });
});

t.test('failures are counted by kind, also those that cost nothing', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, USD);
  const useless = vote(1, { option: null, error: 'malformed', billed_u: 0 });
  await finishPoll(storage, finished(await claimed(storage, accountId), { votes: [refused(0, 0), useless] }));
  t.match(await failuresByCaller(storage, 5), [{ refusals: 1, otherFailures: 1, faultU: 0n, freeU: 0n, chargedU: 0n }]);
});

t.test('a lost worker of a free poll costs the pool nothing where no maximum is known', async (t) => {
  const { storage, query } = await open(t);
  const lost = await claimed(storage, null, POOL);
  await query("update polls set lease_until = now() - interval '1 second'");
  const second = (await claimPoll(storage, lost.id, 'another worker'))!;
  t.match(await finishPoll(storage, finished(second, { votes: [], response: failed })), { unvotedU: 0 });
});

t.test('a free poll that costs more than its hold can be ended when the pool has nothing left', async (t) => {
  const { storage, query } = await open(t);
  const [dear, dearer] = [await claimed(storage, null, POOL), await claimed(storage, null, POOL)];
  const aborted = [{ seat: 1, model_id: 'sim/m1', calls: 1, estimated_u: 0, max_u: 100 }];
  t.match(await finishPoll(storage, finished(dear, { votes: [costing(0, 5_000_000)], aborted, response: failed })), {
    unvotedU: 980_000,
  });
  t.same(await query('select unvoted_u::int from polls where id = $1', [dear.id]), [{ unvoted_u: 0 }]);
  t.match(await balanceOf(storage, FREE_POOL), { availableU: 0n, heldU: 10_000n });
  t.match(await finishPoll(storage, finished(dearer, { votes: [costing(0, 30_000)], response: failed })), {
    outcome: 'stored',
    votes: [{ billed_u: 10_000 }],
    unvotedU: 0,
  });
  t.match(await balanceOf(storage, FREE_POOL), { usageU: 1_000_000n, heldU: 0n });
  t.same(await checkLedger(storage), []);
});

t.test('a poll is close if its votes were split or tied, or if its outcome is not safe', async (t) => {
  const fixture = await open(t);
  const accountId = await funded(fixture.storage, 9n * USD);
  for (const [verdict, isClose] of [
    [{ kind: 'safe', agreement: 'split' }, true],
    [{ kind: 'safe', agreement: 'tied' }, true],
    [{ kind: 'unsafe', agreement: 'strong' }, true],
    [{ kind: 'safe', agreement: 'strong' }, false],
    [undefined, false],
  ] as const) {
    const { id, epoch } = await claimed(fixture.storage, accountId);
    await endedBy(fixture, { id, epoch }, { ...response(), verdict });
    t.same(await fixture.query('select is_close from polls where id = $1', [id]), [{ is_close: isClose }]);
  }
});

t.test('a poll with a webhook_url is an event where its account has no endpoint', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 9n * USD);
  const webhookUrl = 'https://once.example.com/';
  const polls = [newPoll(accountId), newPoll(accountId, { webhookUrl })];
  for (const poll of polls) {
    await acceptPoll(storage, acceptance(accountId, { poll }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!));
  }
  t.same(await query("select data ->> 'session_id' as id, url from webhook_events"), [
    { id: polls[1]!.id, url: webhookUrl },
  ]);
});

t.test('an end that is repeated is answered as the first time', async (t) => {
  const fixture = await open(t);
  const { id, epoch } = await claimed(fixture.storage, await funded(fixture.storage, USD));
  const stored = { outcome: 'stored', votes_u: null, failed_calls_u: '0', unvoted_u: '0' };
  t.same(await endedBy(fixture, { id, epoch }), stored);
  t.same(await endedBy(fixture, { id, epoch }), stored);

  const buried = await claimed(fixture.storage, await funded(fixture.storage, USD));
  await bury(fixture.storage, { id: buried.id, epoch: buried.epoch, reason: 'five attempts' });
  t.same(await endedBy(fixture, { id: buried.id, epoch: buried.epoch }), stored, 'also without a result');
});
