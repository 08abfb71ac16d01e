import { openStorage } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { acceptSlots } from '../../src/polls/run/accept-slots.ts';
import { build } from '../fixtures/build.ts';
import { patientReplicaOf } from '../fixtures/replica.ts';

const POLL = { question: 'Which of the two is larger, please?', options: ['Sun', 'Moon'] };

t.test('a burst of one account that waits for its own balance leaves connections to others', async (t) => {
  const { context: first, keyWith } = await build(t);
  const { app, context } = await patientReplicaOf(t, first);
  const [busy, neighbour] = [await keyWith(10), await keyWith(10)];
  const locked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  await using other = openStorage({ databaseUrl: context.config.database.url });
  const locking = other.db.transaction().execute(async (tx) => {
    await tx.selectFrom('balances').where('account_id', '=', busy.accountId).select('posted_u').forUpdate().execute();
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  const start = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/polls', headers, payload: POLL });
  const burst = Array.from({ length: 40 }, () => start(busy.bearer));
  await eventually('the burst waits', () => context.storage.pool.totalCount - context.storage.pool.idleCount > 0);
  const began = performance.now();
  for (let i = 0; i < 3; i++) t.equal((await start(neighbour.bearer)).statusCode, 202);
  t.comment(`three polls of a neighbour were accepted in ${(performance.now() - began).toFixed(0)} ms`);
  unlock.resolve();
  await locking;
  const answers = await Promise.all(burst);
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [202], 'the burst is accepted too');
});

t.test('polls of one payer are accepted in order, so many at once, and as many may wait as are allowed', async (t) => {
  const slots = acceptSlots({ running: 2, waiting: 2 });
  const order: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<void>());
  const ask = (n: number) =>
    slots.run('payer', async () => {
      order.push(n);
      await gates[n]!.promise;
      return n;
    });
  const asked = [0, 1, 2, 3].map(ask);
  await t.rejects(ask(4), { code: 'rate_limited', circumstances: { retryAfterSeconds: 1 } });
  t.equal(await slots.run('other', async () => 'at once'), 'at once');
  t.same(order, [0, 1]);
  gates[1]!.resolve();
  await eventually('the third has the slot of the second', () => order.length === 3);
  t.same(order, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  t.same(await Promise.all(asked), [0, 1, 2, 3]);
  t.equal(await slots.run('payer', async () => 'again'), 'again');
});

t.test('a wait has an end', async (t) => {
  const slots = acceptSlots({ running: 1, waitMs: 1 });
  const gate = Promise.withResolvers<void>();
  const first = slots.run('payer', () => gate.promise);
  await t.rejects(
    slots.run('payer', async () => t.fail('it was accepted')),
    { code: 'rate_limited' },
  );
  gate.resolve();
  await first;
  t.equal(await slots.run('payer', async () => 'again'), 'again');
});

t.test('when the process ends, those that wait for their turn are refused, and what was begun goes on', async (t) => {
  const ending = new AbortController();
  const slots = acceptSlots({ running: 1, ending: ending.signal });
  const gate = Promise.withResolvers<string>();
  const first = slots.run('payer', () => gate.promise);
  const refused = { code: 'service_unavailable', circumstances: { retryAfterSeconds: 1 } };
  const second = t.rejects(
    slots.run('payer', async () => t.fail('it was accepted')),
    refused,
  );
  const lost = new Error('an earlier try may have made it');
  const repeated = t.rejects(
    slots.run('payer', async () => t.fail('it was accepted'), lost),
    lost,
    'where a poll may have been made nothing else is said',
  );
  ending.abort();
  await Promise.all([second, repeated]);
  await t.rejects(
    slots.run('other', async () => t.fail('it was accepted')),
    refused,
  );
  gate.resolve('accepted');
  t.equal(await first, 'accepted');
});

t.test('an accept that fails gives its slot to the next', async (t) => {
  const slots = acceptSlots({ running: 1 });
  const failing = slots.run('payer', async () => {
    throw new Error('Postgres is away');
  });
  const next = slots.run('payer', async () => 'next');
  await t.rejects(failing, /away/);
  t.equal(await next, 'next');
});
