import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import fc from '@eloquentpoll/testkit/fast-check';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { openAsker } from '../src/ask.ts';
import { openHealth } from '../src/health.ts';
import { healthKey, probeKey } from '../src/health-script.ts';
import { countVote, emptyTally, percentileMs, summary } from '../src/record.ts';
import { voteRecorder } from '../src/record-votes.ts';
import { json, misbehavingServer, says, votes } from './misbehaving-server.ts';
import { testPanels } from './test-panels.ts';
import { MODEL, voteRequest } from './vote-request.ts';

// slow: 7 s

// What one worker learns of a model, the others and the gateway know soon after; without Redis everybody goes on alone.

async function connection(t: Test, url: string): Promise<Redis> {
  const redis = new Redis(url);
  t.teardown(() => redis.disconnect());
  return redis;
}

t.test('failure rates and latencies of all workers add up and reach a reader', async (t) => {
  const server = await misbehavingServer(t);
  const { url, prefix } = testRedis(t);
  const panels = testPanels(t, { one: server.url });
  const redis = await connection(t, url);
  server.behave(MODEL, ...Array(15).fill(votes()), json({}, 400), votes());
  for (let worker = 0; worker < 2; worker += 1) {
    const asker = openAsker({ panels, redis, prefix });
    for (let i = 0; i < 12; i += 1) await asker.ask(voteRequest());
    await asker[Symbol.asyncDispose]();
  }
  const records = await eventually('all calls are known', async () => {
    const known = await openHealth({ redis, prefix, panels }).snapshot();
    return known.get(MODEL)!.calls >= 24 && known;
  });
  const record = records.get(MODEL)!;
  t.match(record, { calls: 24, failing: false });
  t.ok(Math.abs(record.failureRate - 2 / 44) < 1e-3, String(record.failureRate));
  t.ok(record.p50Ms > 0 && record.p90Ms >= record.p50Ms && record.p90Ms < 5_000, JSON.stringify(record));
  t.same(
    records.get('t/bay-1'),
    { failureRate: 0, p50Ms: 10, p90Ms: 20, calls: 0, failing: false },
    'what is not known comes from the panel',
  );
  t.same([...(await openHealth({ redis, prefix, panels }).snapshot(['t/bay-1', 't/gone'])).keys()], ['t/bay-1']);
  t.equal(redis.status, 'ready', 'a connection that was handed in stays open');
});

t.test('a breaker that one worker opens is open for all, and one worker probes for all', async (t) => {
  const server = await misbehavingServer(t);
  const { url, prefix } = testRedis(t);
  const panels = testPanels(t, { one: server.url });
  const redis = await connection(t, url);
  let now = 100_000;
  const options = { panels, redis, prefix, now: () => now, random: () => 0.5 };
  await using first = openAsker(options);
  await using second = openAsker(options);
  server.behave(MODEL, json({}, 404));
  for (let i = 0; i < 5; i += 1) await first.ask(voteRequest());
  const failing = async (laterMs = 0): Promise<boolean> => {
    const health = openHealth({ redis, prefix, panels, now: () => Date.now() + laterMs });
    return (await health.snapshot([MODEL])).get(MODEL)!.failing;
  };
  await eventually('the model rests', failing);
  // The second worker hears of it with its next round trip, which any vote of its own sets off.
  await eventually('the second worker does not ask', async () => {
    await second.ask(voteRequest({ modelId: 't/bay-1' }));
    return (await second.ask(voteRequest())).calls === 0;
  });

  now += 10_000;
  let answer = (): void => {};
  const before = server.calls.length;
  server.behave(MODEL, (call, res) => {
    answer = () => votes()(call, res);
  });
  const probe = first.ask(voteRequest());
  await server.called(before + 1);
  t.match(await second.ask(voteRequest()), { calls: 0, error: 'provider_error' }, 'another process probes');
  t.equal(await redis.exists(probeKey(prefix, MODEL)), 1, 'and keeps the probe');
  // The rest is over and no call has succeeded: alarms must not see the model as sound.
  await eventually('it is still failing', () => failing(60_000));
  t.notOk(await failing(2 * 3_600_000), 'without any test for an hour, nothing is known');
  answer();
  t.match(await probe, { error: null });
  server.behave(MODEL, votes());
  await eventually('the second worker asks again', async () => {
    now += 100;
    await second.ask(voteRequest({ modelId: 't/bay-1' }));
    return (await second.ask(voteRequest())).error === null;
  });
  await eventually('the model is asked again', async () => !(await failing()));
});

t.test('workers believe each other after Redis was emptied', async (t) => {
  const server = await misbehavingServer(t);
  const { url, prefix } = testRedis(t);
  const panels = testPanels(t, { one: server.url });
  const redis = await connection(t, url);
  let now = 100_000;
  await using first = openAsker({ panels, redis, prefix, now: () => now });
  // Its clock stands still, so that it rests until it hears of something else.
  await using second = openAsker({ panels, redis, prefix, now: () => 0 });
  const secondRests = async (): Promise<boolean> => {
    // Any vote of its own sets off its round trip.
    await second.ask(voteRequest({ modelId: 't/bay-1' }));
    return (await second.ask(voteRequest(), { beforeCall: async () => false })).error === 'provider_error';
  };
  const open = async (what: string): Promise<void> => {
    server.behave(MODEL, json({}, 404));
    for (let i = 0; i < 5; i += 1) await first.ask(voteRequest());
    await eventually(`the second worker rests ${what}`, secondRests);
  };
  const close = async (what: string): Promise<void> => {
    server.behave(MODEL, votes());
    now += 200_000;
    t.match(await first.ask(voteRequest()), { error: null });
    await eventually(`the second worker asks ${what}`, async () => !(await secondRests()));
  };
  await open('first');
  await close('again');
  for (const change of [open, close]) {
    await redis.del(healthKey(prefix));
    await change('after Redis was emptied');
  }
});

t.test('a worker that is answered does not believe one that is cut off', async (t) => {
  const [good, bad] = [await misbehavingServer(t), await misbehavingServer(t)];
  const { url, prefix } = testRedis(t);
  const redis = await connection(t, url);
  const well = testPanels(t, { one: good.url });
  await using healthy = openAsker({ panels: well, redis, prefix });
  await using cutOff = openAsker({ panels: testPanels(t, { one: bad.url }), redis, prefix });
  bad.behave(MODEL, json({}, 404));
  await healthy.ask(voteRequest());
  for (let i = 0; i < 5; i += 1) await cutOff.ask(voteRequest());
  await eventually(
    'the first level of rest is stored',
    async () => (await redis.hget(healthKey(prefix), MODEL))?.includes('"level":1') ?? false,
  );
  const seen = async (): Promise<number> =>
    (await openHealth({ redis, prefix, panels: well }).snapshot([MODEL])).get(MODEL)!.calls;
  const calls = await seen();
  t.match(await healthy.ask(voteRequest()), { error: null });
  await eventually('another call is made', async () => (await seen()) > calls);
  t.match(await healthy.ask(voteRequest()), { error: null }, 'after it heard of the other');
});

t.test('a Redis that is away or hangs costs no vote and no snapshot', async (t) => {
  const server = await misbehavingServer(t);
  const sockets = new Set<Socket>();
  const hanging = createServer((socket) => void sockets.add(socket.on('error', () => {})));
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });
  const panels = testPanels(t, { one: server.url });
  for (const url of ['redis://127.0.0.1:1', `redis://127.0.0.1:${(hanging.address() as AddressInfo).port}`]) {
    const redis = new Redis(url, { retryStrategy: () => 50 });
    redis.on('error', () => {});
    const asker = openAsker({ panels, redis, prefix: 'x' });
    server.behave(MODEL, votes());
    const answers = await Promise.all(Array.from({ length: 20 }, () => asker.ask(voteRequest())));
    t.ok(answers.every((answer) => answer.error === null && answer.latency_ms < 10_000));
    await asker[Symbol.asyncDispose]();
    const records = await openHealth({ redis, prefix: 'x', panels }).snapshot([MODEL]);
    t.match(records.get(MODEL), { failureRate: 0, p50Ms: 10, p90Ms: 20 });
    redis.disconnect();
  }
});

t.test('a snapshot is read once for many askers, and a spoilt entry is no knowledge', async (t) => {
  const panels = testPanels(t, { one: 'http://127.0.0.1:9/v1' });
  let reads = 0;
  let now = 1_000;
  const entries: Record<string, string> = {
    [MODEL]: '{"calls":"many","bins":{}}',
    't/bay-1': '[1]',
    't/cob-1': 'no JSON',
  };
  const redis = {
    hgetall: async () => {
      reads += 1;
      return entries;
    },
  };
  const health = openHealth({ redis, prefix: 'x', panels, now: () => now });
  await Promise.all(Array.from({ length: 50 }, () => health.snapshot()));
  t.equal(reads, 1);
  for (const record of (await health.snapshot()).values()) t.match(record, { failureRate: 0, p50Ms: 10, calls: 0 });
  now += 5_000;
  await health.snapshot();
  t.equal(reads, 2);
});

t.test('a spoilt entry in Redis is written anew', async (t) => {
  const server = await misbehavingServer(t);
  const { url, prefix } = testRedis(t);
  const redis = await connection(t, url);
  const panels = testPanels(t, { one: server.url });
  for (const spoilt of ['no JSON', '[1]', '{"at":"now"}', '7', '{"at":1}']) {
    await redis.hset(healthKey(prefix), MODEL, spoilt);
    const asker = openAsker({ panels, redis, prefix });
    await asker.ask(voteRequest());
    await asker[Symbol.asyncDispose]();
    await eventually(
      'its call is known',
      async () => (await openHealth({ redis, prefix, panels }).snapshot()).get(MODEL)?.calls === 1,
    );
  }
});

t.test('percentiles from bins stay within a bin of the true ones', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 20, max: 120_000 }), { minLength: 20, maxLength: 200 }),
      fc.constantFrom(0.5, 0.9),
      (latencies, q) => {
        const tally = emptyTally();
        for (const latency of latencies) countVote(tally, latency);
        const exact = latencies.toSorted((a, b) => a - b)[Math.ceil(q * latencies.length) - 1]!;
        const found = percentileMs(tally.bins, q);
        return found >= exact / 1.31 && found <= exact * 1.31;
      },
    ),
  );
  const tally = emptyTally();
  for (let i = 0; i < 100; i += 1) countVote(tally, i % 4 === 0 ? null : 1_000);
  const panel = { p50Ms: 1, p90Ms: 2 };
  t.ok(Math.abs(summary(tally, 0, panel, false).failureRate - 26 / 120) < 1e-9);
  t.match(summary(tally, 30 * 60_000, panel, false), { calls: 50 }, 'half of it after the half-life');
  t.match(
    summary(tally, 100 * 3_600_000, panel, false),
    { calls: 0, failureRate: 0, p50Ms: 1, p90Ms: 2 },
    'all forgotten in the end',
  );
});

t.test('a rate is believed up to 0.3, however bad the record', async (t) => {
  const tally = emptyTally();
  for (let i = 0; i < 100; i += 1) countVote(tally, null);
  t.equal(summary(tally, 0, { p50Ms: 1, p90Ms: 2 }, false).failureRate, 0.3);
});

t.test('150 refused, broken or free polls of strangers change no figure of a model', async (t) => {
  const server = await misbehavingServer(t);
  const { url, prefix } = testRedis(t);
  const panels = testPanels(t, { one: server.url });
  const redis = await connection(t, url);
  const answers = [
    says({ refusal: 'no' }),
    says({ content: 'I would rather not.' }),
    says({ content: '{"choice":"XX"}' }),
  ];
  server.behave(MODEL, ...Array.from({ length: 300 }, (_, i) => answers[i % answers.length]!));
  const asker = openAsker({ panels, redis, prefix });
  for (let i = 0; i < 50; i += 1) await asker.ask(voteRequest({ accountId: `account ${i}` }));
  server.behave(MODEL, ...Array.from({ length: 300 }, () => json({}, 503)));
  for (let i = 0; i < 10; i += 1) await asker.ask(voteRequest({ panel: 'free' }));
  await asker[Symbol.asyncDispose]();
  const record = (await openHealth({ redis, prefix, panels }).snapshot()).get(MODEL)!;
  t.match(record, { failureRate: 0, calls: 0 });
});

t.test('failures of the line count three times per account and model in ten minutes', async (t) => {
  let now = 0;
  const counted: string[] = [];
  const record = voteRecorder({ vote: (model, ms) => counted.push(`${model} ${ms}`) }, () => now);
  for (let i = 0; i < 20; i += 1) record(voteRequest({ accountId: 'a' }), { error: 'timeout' });
  t.equal(counted.length, 3);
  record(voteRequest({ accountId: 'b' }), { error: 'provider_error' });
  t.equal(counted.length, 4, 'of another account');
  record(voteRequest({ accountId: 'a' }), { callMs: 90 });
  t.equal(counted.at(-1), `${MODEL} 90`, 'votes always count');
  now += 10 * 60_000;
  record(voteRequest({ accountId: 'a' }), { error: 'timeout' });
  t.equal(counted.length, 6, 'the next window');
});
