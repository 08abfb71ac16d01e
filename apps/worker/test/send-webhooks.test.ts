import { openMetrics } from '@eloquentpoll/ops';
import {
  type ClaimedDelivery,
  createAccount,
  insertWebhookEndpoint,
  openStorage,
  spreadWebhookEvents,
} from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { type MessageSender, openSecretBox, type SendOutcome } from '@eloquentpoll/webhooks';
import t, { type Test } from 'tap';
import type { Config } from '../src/config.ts';
import type { OpenContext } from '../src/context.ts';
import { type Delivering, deliverWebhooks } from '../src/webhooks/deliver-webhooks.ts';
import { openWebhookDelivery } from '../src/webhooks/open-delivery.ts';
import { sendDelivery } from '../src/webhooks/send-delivery.ts';

// slow: 5 s

// What is sent beside what, and what each answer comes to: the receivers are functions.

const box = openSecretBox(['a sealing key of at least 32 characters']);
const baseUrl = 'https://polls.example.com';
const answer = (status: number | null, more: Partial<SendOutcome> = {}): SendOutcome => ({
  ...{ status, error: null, retryAfterMs: 0, tookMs: 5 },
  ...more,
});

t.test('2xx is delivered, quickly within two seconds; 410 ends all, other answers are tried again', async (t) => {
  const delivery = {
    ...{ type: 'test', data: {}, happenedAt: new Date(), eventId: 'msg_1', endpointId: 'we_1' },
    ...{ url: 'https://app.example.com/', secret: box.seal('whsec_c2VjcmV0', 'we_1'), previousSecret: null },
    ...{ tries: 1, isLast: false },
  } as unknown as ClaimedDelivery;
  const signal = new AbortController().signal;
  const outcomeOf = (sent: SendOutcome, more: Partial<ClaimedDelivery> = {}, until = signal) =>
    sendDelivery({ box, send: async () => sent, baseUrl }, { ...delivery, ...more }, until);
  for (const [status, kind] of [
    [199, 'retry'],
    [200, 'delivered'],
    [299, 'delivered'],
    [300, 'retry'],
    [404, 'retry'],
    [409, 'retry'],
    [410, 'gone'],
    [411, 'retry'],
    [500, 'retry'],
    [null, 'retry'],
  ] as const)
    t.match(await outcomeOf(answer(status)), { kind, entry: { http_status: status, took_ms: 5 } }, `${status}`);
  for (const [tookMs, isQuick] of [
    [2_000, true],
    [2_001, false],
  ] as const) {
    t.match(await outcomeOf(answer(200, { tookMs })), { kind: 'delivered', isQuick });
    for (const status of [410, 500]) t.match(await outcomeOf(answer(status, { tookMs: 5 })), { isQuick: false });
  }
  t.match(await outcomeOf(answer(429, { retryAfterMs: 600_000 })), { kind: 'retry', retryMs: 600_000 });
  for (const more of [{ isLast: true }, { tries: 11 }])
    t.match(await outcomeOf(answer(500), more), { kind: 'failed', isQuick: false }, 'its last attempt');
  t.match(await outcomeOf(answer(410), { isLast: true }), { kind: 'gone' });
  const ended = AbortSignal.abort();
  t.match(await outcomeOf(answer(null, { error: 'timed_out' }), {}, ended), { kind: 'released' });
  t.match(await outcomeOf(answer(200), {}, ended), { kind: 'delivered' }, 'what was answered counts');
});

/** A database with a worker whose messages wait until they are answered. */
async function world(t: Test, more: Partial<Delivering> = {}) {
  const databaseUrl = await testDatabase(t);
  const storage = openStorage({ databaseUrl, statementTimeoutMs: 30_000 });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const sql = (statement: string) => asOwner(databaseUrl, statement);
  const metrics = openMetrics('worker');
  const problems: string[] = [];
  const noted = (_: object, event: string) => void problems.push(event);
  const sent: { url: string; signal: AbortSignal; answer(outcome: SendOutcome): void }[] = [];
  const send: MessageSender = ({ url }, signal) =>
    new Promise((resolve) => {
      sent.push({ url, signal, answer: resolve });
      signal.addEventListener('abort', () => resolve(answer(null, { error: 'timed_out' })));
    });
  const parts = { storage, workerId: 'w1', box, send, baseUrl, concurrency: 40, metrics };
  let made = 0;
  /** With so many events for it; its receiver is known to answer well or not known. */
  async function endpoint(accountId: string, host: string, { events = 1, isQuick = false } = {}): Promise<void> {
    const id = `we_${String(made++).padStart(32, '0')}`;
    const type = `test.${id}`;
    const url = `https://${host}/`;
    const eventTypes = [type] as unknown as Parameters<typeof insertWebhookEndpoint>[2]['eventTypes'];
    await insertWebhookEndpoint(storage, accountId, {
      id,
      url,
      description: '',
      eventTypes,
      secret: box.seal('whsec_', id),
    });
    await sql(`select note_webhook_event('${accountId}', '${type}', '{}', null) from generate_series(1, ${events})`);
    await spreadWebhookEvents(storage, 1_000);
    if (isQuick) await sql(`update webhook_receivers set is_quick = true where endpoint_id = '${id}'`);
  }
  function start(): AsyncDisposable {
    const running = deliverWebhooks({ ...parts, log: { warn: noted, error: noted }, drainMs: 50, ...more });
    t.teardown(() => running[Symbol.asyncDispose]());
    return running;
  }
  const to = (part: string) => sent.filter(({ url }) => url.includes(part)).length;
  return { storage, sql, metrics, problems, sent, to, endpoint, start };
}

t.test(
  'of 40 places one account has ten, one receiver eight, and those that are not known to answer well half',
  async (t) => {
    const { storage, sql, sent, to, endpoint, start, problems } = await world(t);
    const greedy = await createAccount(storage);
    for (const host of ['one.greedy', 'two.greedy']) await endpoint(greedy, host, { events: 20, isQuick: true });
    for (const account of ['a', 'b', 'c']) {
      const accountId = await createAccount(storage);
      for (let i = 0; i < 8; i++) await endpoint(accountId, `${i}.${account}.unknown`, { events: 2 });
    }
    start();
    await eventually('the places are taken', () => sent.length >= 30);
    await endpoint(await createAccount(storage), 'modest', { isQuick: true });
    await eventually('there are places left', () => to('modest') === 1);
    t.same([to('greedy'), to('unknown')], [10, 20]);
    t.equal(Math.max(to('one.greedy'), to('two.greedy')), 8);
    t.equal(new Set(sent.map(({ url }) => url)).size, 23, 'one at a time to each that is not known');
    const leases = await sql(`select extract(epoch from due_at - now())::float8 as left_s from webhook_deliveries
    where lease_owner = 'w1' order by due_at`);
    t.equal(leases.length, 31);
    for (const { left_s } of leases as unknown as { left_s: number }[])
      t.ok(left_s > 15 && left_s <= 30, `${left_s} s: longer than any attempt`);
    sent.find(({ url }) => url.includes('unknown'))!.answer(answer(500));
    await eventually('another one has its place', () => to('unknown') === 21);
    t.same(problems, []);
  },
);

t.test('each attempt is counted by its outcome, and how late a message is by its first', async (t) => {
  const { storage, sql, metrics, sent, problems, endpoint, start } = await world(t);
  const { counts } = metrics.histogram('eloquentpoll_webhook_delay_seconds');
  const delays = () => counts.reduce((sum, n) => sum + n, 0);
  const counted = () => {
    const of = (outcome: string) => metrics.counter('eloquentpoll_webhook_attempts_total', outcome).n;
    const outcomes = ['delivered', 'status', 'gone', 'connection_failed'].map(of);
    return [...outcomes, metrics.counter('eloquentpoll_webhooks_failed_total').n, delays()];
  };
  const running = start();
  t.match(await metrics.text(), /webhook_attempts_total\{.*tls_failed.*\} 0\n/, 'from the start');
  const accountId = await createAccount(storage);
  let asked = 0;
  for (const [status, more, expected] of [
    [200, {}, [1, 0, 0, 0, 0, 1]],
    [410, {}, [1, 0, 1, 0, 1, 1]],
    [null, { error: 'connection_failed' }, [1, 0, 1, 1, 1, 1]],
    [500, {}, [1, 1, 1, 1, 1, 1]],
  ] as const) {
    await endpoint(accountId, `${status}`);
    asked += 1;
    await eventually('it is sent', () => sent.length === asked);
    sent.at(-1)!.answer(answer(status, more));
    await eventually(`${status} is counted`, () => JSON.stringify(counted()) === JSON.stringify(expected));
    // Not sent again by itself before the test says so.
    await sql(`update webhook_deliveries set due_at = now() + interval '1 hour' where status = 'pending';
      update webhook_receivers set next_due_at = now() + interval '1 hour' where next_due_at < 'infinity'`);
  }
  const again = async (change = '') => {
    await sql(`update webhook_deliveries set due_at = now() ${change} where status = 'pending';
      update webhook_receivers set next_due_at = now() where next_due_at < 'infinity'`);
    await eventually('both are sent again', () => sent.length === asked + 2);
    asked += 2;
    return sent.slice(-2);
  };
  const [one, other] = await again(`, expires_at = now() - interval '1 minute'`);
  one!.answer(answer(200));
  other!.answer(answer(503));
  await eventually('both are counted', () => JSON.stringify(counted()) === JSON.stringify([2, 2, 1, 1, 2, 1]));
  await endpoint(accountId, 'at the end');
  await eventually('it is sent', () => sent.length === asked + 1);
  await running[Symbol.asyncDispose]();
  t.same(counted(), [2, 2, 1, 1, 2, 1], 'one that was cut off is no attempt');
  const [left] = await sql(`select tries, lease_owner from webhook_deliveries where status = 'pending'`);
  t.match(left, { tries: 0, lease_owner: null });
  t.same(problems, []);
});

t.test('how late a message came is counted in seconds; one from the future, by a clock, was not late', async (t) => {
  const { storage, sql, metrics, sent, endpoint, start } = await world(t);
  const delay = metrics.histogram('eloquentpoll_webhook_delay_seconds');
  const observed = () => delay.counts.reduce((sum, n) => sum + n, 0);
  const began = Date.now();
  await endpoint(await createAccount(storage), 'future');
  await sql(`update webhook_events set created_at = now() + interval '1 hour'`);
  start();
  await eventually('it is sent', () => sent.length === 1);
  sent[0]!.answer(answer(200));
  await eventually('it is counted', () => observed() === 1);
  t.equal(delay.sum, 0);
  // Noted in one transaction, so that no look comes between.
  const accountId = await createAccount(storage);
  await insertWebhookEndpoint(storage, accountId, {
    ...{
      id: `we_${'f'.repeat(32)}`,
      url: 'https://late/',
      description: '',
      secret: box.seal('whsec_', `we_${'f'.repeat(32)}`),
    },
    eventTypes: ['balance.low'],
  });
  await sql(`update webhook_endpoints set created_at = now() - interval '1 day';
    insert into webhook_events (account_id, type, data, created_at)
    values ('${accountId}', 'balance.low', '{}', now() - interval '90 seconds')`);
  await eventually('it is sent', () => sent.length === 2);
  sent[1]!.answer(answer(200));
  await eventually('it is counted', () => observed() === 2);
  const most = 90 + (Date.now() - began) / 1_000;
  t.ok(delay.sum >= 90 && delay.sum <= most, `${delay.sum} s`);
});

t.test(
  'of five places, rounded up, an account has two and those that are not known three; a sixth waits',
  async (t) => {
    const { storage, sql, metrics, sent, to, endpoint, start, problems } = await world(t, { concurrency: 5 });
    await endpoint(await createAccount(storage), 'quick', { events: 3, isQuick: true });
    for (let i = 0; i < 5; i++) await endpoint(await createAccount(storage), `${i}.unknown`);
    start();
    await eventually('the places are taken', () => sent.length === 5);
    t.same([to('quick'), to('unknown')], [2, 3]);
    t.match(await metrics.text(), /webhooks_under_way(\{.*\})? 5\n/);
    await endpoint(await createAccount(storage), 'modest', { isQuick: true });
    // A look after which another has begun is over.
    for (const type of ['first', 'second']) {
      await sql(
        `insert into webhook_events (account_id, type, data) values ('${await createAccount(storage)}', '${type}', '{}')`,
      );
      await eventually('it has looked', async () => {
        const waiting = await sql('select from webhook_events where spread_at is null');
        return waiting.length === 0;
      });
    }
    t.equal(sent.length, 5);
    sent.find(({ url }) => url.includes('unknown'))!.answer(answer(200));
    await eventually('the next has its place', () => sent.length === 6);
    t.same(problems, []);
  },
);

t.test('events are taken up 200 at once; where that fails it is tried again', async (t) => {
  const { storage, sql, sent, endpoint, start, problems } = await world(t);
  const accountId = await createAccount(storage);
  await sql(`insert into webhook_events (account_id, type, data)
    select '${accountId}', 'test', '{}' from generate_series(1, 450)`);
  await sql('alter function spread_webhook_events(integer, integer) rename to spread_elsewhere');
  start();
  await eventually('it has failed', () => problems.length > 0);
  await sql('alter function spread_elsewhere(integer, integer) rename to spread_webhook_events');
  await eventually('all are taken up', async () => {
    const waiting = await sql('select from webhook_events where spread_at is null');
    return waiting.length === 0;
  });
  t.same(
    await sql('select count(*)::int as n from webhook_events group by spread_at order by spread_at'),
    [200, 200, 50].map((n) => ({ n })),
  );
  await endpoint(accountId, 'after');
  await eventually('it sends', () => sent.length === 1);
  t.same([...new Set(problems)], ['webhook.look_failed']);
});

t.test('an attempt whose lease another worker has is not counted', async (t) => {
  const { storage, sql, metrics, sent, endpoint, start } = await world(t);
  await endpoint(await createAccount(storage), 'slow');
  start();
  await eventually('it is sent', () => sent.length === 1);
  await sql(`update webhook_deliveries set lease_owner = 'w2'`);
  sent[0]!.answer(answer(200));
  await eventually('it has ended', async () => /webhooks_under_way(\{.*\})? 0\n/.test(await metrics.text()));
  t.equal(metrics.counter('eloquentpoll_webhook_attempts_total', 'delivered').n, 0);
});

t.test('without settings for webhooks a worker sends none', async (t) => {
  const { storage, metrics } = await world(t);
  const context = { workerId: 'w1', resources: { storage, metrics } } as unknown as OpenContext;
  t.equal(openWebhookDelivery({ webhooks: null } as Config, context), null);
});

t.test('attempts that end while a worker leaves count; one whose secret does not open is left to others', async (t) => {
  const { storage, sql, sent, problems, endpoint, start } = await world(t, { drainMs: 20_000 });
  const accountId = await createAccount(storage);
  await endpoint(accountId, 'good');
  await endpoint(accountId, 'foreign');
  await sql(`update webhook_endpoints set secret = '${openSecretBox(['another key of at least 32 characters']).seal('whsec_', 'x')}'
    where url like '%foreign%'`);
  const running = start();
  await eventually('one is sent, the other not', () => sent.length === 1 && problems.length === 1);
  t.same(problems, ['webhook.attempt_lost']);
  const ended = running[Symbol.asyncDispose]();
  sent[0]!.answer(answer(200));
  await ended;
  t.equal(sent[0]!.signal.aborted, true, 'only when nothing was under way');
  const left = await sql(`select status, lease_owner from webhook_deliveries order by status`);
  t.same(left, [
    { status: 'delivered', lease_owner: null },
    { status: 'pending', lease_owner: 'w1' },
  ]);
});
