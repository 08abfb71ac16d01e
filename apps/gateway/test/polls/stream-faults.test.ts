import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { balanceOf, findPoll } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import type { Context } from '../../src/context.ts';
import { streamWheel } from '../../src/http/sse/stream-wheel.ts';
import { PollEvents } from '../../src/polls/run/poll-events.ts';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { listen, POLL, readStream } from '../fixtures/read-stream.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { withoutPostgres } from '../fixtures/without-postgres.ts';

// slow: 8 s

const idle = ({ streams, bus, rereads }: Context) =>
  streams.count() === 0 && bus.watched() === 0 && rereads.followed() === 0;

/** A gateway whose wheel is turned by the test. */
async function gateway(t: Test, given: Partial<Context> = {}) {
  let clock = 1_000;
  const streams = streamWheel(() => clock);
  const made = await build(t, {}, { streams, ...given });
  const caller = await made.keyWith(100);
  const origin = await listen(made.app);
  async function begin() {
    const stream = await readStream(t, origin, caller.bearer);
    const id: string = (await stream.next())!.data.session_id;
    return { stream, id, worker: await takePoll(made.context, id) };
  }
  return {
    ...made,
    ...caller,
    origin,
    begin,
    /** So many seconds pass. */
    pass(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        clock += 1_000;
        streams.turn();
      }
    },
  };
}

t.test('[§A6-stream-disconnect] a caller who disconnects frees everything at once, and the poll goes on', async (t) => {
  const { context, begin, accountId } = await gateway(t);
  const many = await Promise.all(Array.from({ length: 50 }, begin));
  t.same([context.streams.count(), context.bus.watched(), context.rereads.followed()], [50, 50, 50]);
  for (const { stream } of many) stream.hangUp();
  await eventually('no stream and no watch is left', () => idle(context));
  const { worker, id } = many[0]!;
  await worker.vote();
  await worker.end();
  t.equal((await findPoll(context.storage, id))?.status, 'completed');
  t.equal((await balanceOf(context.storage, accountId))?.usageU, 100n);
});

t.test('snapshots that arrive twice, late or out of order are not sent', async (t) => {
  const { context, begin } = await gateway(t);
  const { stream, id, worker } = await begin();
  const { runs } = context.bus;
  const publish = (seq: number) => runs.open(id, 1, '', { ...worker.running(), seq });
  for (const seq of [0, 2, 1, 2, 64, 5, 65]) await publish(seq);
  await worker.end();
  t.same(
    (await stream.all()).map(({ data }) => data.seq),
    [0, 2, 64, 65, 66],
  );
});

t.test('an end whose announcement was lost is sent', async (t) => {
  const { begin } = await gateway(t);
  const { stream, worker } = await begin();
  await worker.vote();
  const response = await worker.end({ silent: true });
  t.match((await stream.all()).at(-1), { event: 'complete', data: response });
});

t.test('a subscription that Redis cuts is made again, and what was missed is read', async (t) => {
  const { context, begin } = await gateway(t);
  const { stream, worker } = await begin();
  const admin = new Redis(context.config.redis.url);
  t.teardown(() => admin.disconnect());
  const publish = context.bus.runs.vote;
  for (let round = 0; round < 5; round++) {
    // Published while the subscriber's connection is away.
    await killSubscriber(admin, context.bus.prefix);
    await worker.vote();
    const { data } = (await stream.next())!;
    t.equal(data.progress.received, round + 1);
  }
  t.equal(context.bus.runs.vote, publish);
  await worker.end();
  t.equal((await stream.all()).at(-1)?.event, 'complete');
  await eventually('no stream and no watch is left', () => idle(context));
});

async function killSubscriber(admin: Redis, prefix: string): Promise<void> {
  const clients = String(await admin.client('LIST', 'TYPE', 'PUBSUB'));
  for (const line of clients.split('\n')) {
    const id = /(?:^| )id=(\d+) /.exec(line)?.[1];
    if (id && line.includes(`name={${prefix}}-watch`)) await admin.client('KILL', 'ID', id);
  }
}

t.test('without any subscription the end comes from Postgres', async (t) => {
  const { bus } = (await build(t)).context;
  const { begin } = await gateway(t, {
    bus: { ...bus, watchPoll: () => Promise.reject(new Error('Redis is away')) },
  });
  const { stream, worker } = await begin();
  await worker.vote();
  const response = await worker.end();
  t.same(
    (await stream.all()).map(({ event }) => event),
    ['started', 'complete'],
  );
  t.match(stream.events.at(-1)?.data, response);
});

t.test('an idle stream gets a keep-alive every fifteen seconds', async (t) => {
  const { begin, pass } = await gateway(t);
  const { stream, worker } = await begin();
  pass(15);
  pass(15);
  await worker.vote();
  await worker.end();
  await stream.all();
  t.same(stream.comments, ['alive', 'alive']);
});

t.test(
  'a stream ends a little after the deadline of a poll that still runs, and does not say that it failed',
  async (t) => {
    const { begin, pass, context, origin, bearer } = await gateway(t);
    const { stream, id, worker } = await begin();
    pass(120);
    t.equal(context.streams.count(), 1);
    pass(8 + 15);
    t.equal(await stream.next(), null);
    const again = await readStream(t, origin, { ...bearer, 'last-event-id': `${id}:0` });
    await worker.vote();
    const response = await worker.end();
    t.match((await again.all()).at(-1), { event: 'complete', data: response });
  },
);

t.test('without Postgres a stream does not say that its poll was not run; the next one has the end', async (t) => {
  const { context, origin, bearer, log, pass } = await gateway(t);
  const { context: elsewhere } = await replicaOf(t, context);
  const begin = async () => {
    const stream = await readStream(t, origin, bearer);
    const id: string = (await stream.next())!.data.session_id;
    const worker = await takePoll(elsewhere, id);
    await worker.vote();
    return { stream, id, worker };
  };
  const [unknown, heard] = [await begin(), await begin()];

  const away = withoutPostgres(t, context);
  const { accountId, epoch } = heard.worker.claim;
  const { poll_id: result_id } = await heard.worker.end({ silent: true });
  const ended = { ...heard.worker.running(), seq: 9, status: 'completed' as const, result_id };
  await elsewhere.bus.runs.end(heard.id, epoch, String(accountId), ended);
  await eventually('its result is missed', () => log.some((line) => line.includes('stream.result_unread')));
  pass(128 + 15);
  t.same(new Set((await unknown.stream.all()).map(({ event }) => event)), new Set(['started']));
  away.restore();
  t.match((await heard.stream.all()).at(-1), { event: 'complete', data: { poll_id: result_id } });
  const response = await unknown.worker.end({ silent: true });
  const again = await readStream(t, origin, { ...bearer, 'last-event-id': unknown.stream.events.at(-1)!.id });
  t.match((await again.all()).at(-1), { event: 'complete', data: response });

  const late = await begin();
  const awayAgain = withoutPostgres(t, context);
  const { poll_id } = await late.worker.end({ silent: true });
  awayAgain.restore();
  pass(128 + 15);
  t.match(
    (await late.stream.all()).at(-1),
    { event: 'complete', data: { poll_id } },
    'it is read before it is given up',
  );
});

/** A caller who asks and then reads nothing at all. */
async function deafReader(origin: string, authorization: string, path = '/api/poll/stream'): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.pause();
  await once(socket, 'connect');
  const body = JSON.stringify(POLL);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return socket;
}

t.test('a reader that never reads costs little and is cut after thirty seconds; its poll goes on', async (t) => {
  const { context, origin, bearer, pass } = await gateway(t);
  const socket = await deafReader(origin, bearer.authorization);
  t.teardown(() => socket.destroy());
  const { id, worker } = await flooded(context);
  pass(29);
  t.equal(context.streams.count(), 1, 'not yet');
  pass(1);
  await eventually('no stream and no watch is left', () => idle(context));
  await worker.vote();
  await worker.end();
  t.equal((await findPoll(context.storage, id))?.status, 'completed');
});

t.test('a reader that is slow gets the newest snapshot, and the end', async (t) => {
  const { context, origin, bearer } = await gateway(t);
  const socket = await deafReader(origin, bearer.authorization);
  t.teardown(() => socket.destroy());
  const { worker, published } = await flooded(context);
  await worker.vote();
  await worker.end();
  await eventually('no poll is watched', () => context.bus.watched() === 0);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  socket.resume();
  await eventually('the stream says complete', () => /event: complete/.test(text));
  const ids = [...text.matchAll(/^id: \w+:(\d+)$/gm)].map(([, seq]) => Number(seq));
  t.ok(ids.length < published, `${ids.length} of ${published} events`);
  t.same(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  await eventually('no stream and no watch is left', () => idle(context));
});

t.test('a reader that never reads does not hold up the end of the process', async (t) => {
  const { app, context, origin, bearer } = await gateway(t);
  const socket = await deafReader(origin, bearer.authorization);
  t.teardown(() => socket.destroy());
  await flooded(context);
  await app.close();
  t.ok(idle(context));
});

/** Publishes large snapshots of the one poll until its reader's socket is full. */
async function flooded(context: Context) {
  await eventually('one stream is open', () => context.streams.count() === 1);
  const { id } = await context.storage.db.selectFrom('polls').select('id').executeTakeFirstOrThrow();
  const worker = await takePoll(context, id);
  const big = { ...worker.running(), vote: { ...VOTE, model_id: 'x'.repeat(200_000) } };
  let published = 0;
  // The stream is blocked once a snapshot more changes nothing in what waits for the socket.
  await eventually('the stream is blocked', async () => {
    for (let i = 0; i < 10 && context.streams.blocked() === 0; i++)
      await context.bus.runs.open(id, 1, '', { ...big, seq: ++published });
    return context.streams.blocked() > 0;
  });
  for (let i = 0; i < 100; i++) await context.bus.runs.open(id, 1, '', { ...big, seq: ++published });
  return { id, worker, published };
}

const VOTE = {
  success: true,
  chosen_option: 'A',
  transition: 'vote',
  latency_ms: 1,
  estimated_cost: 0,
  error: null,
} as const;

t.test('closing ends all streams within a second, and their readers go on at another gateway', async (t) => {
  const { app, context, begin, bearer } = await gateway(t);
  const other = await replicaOf(t, context);
  const otherOrigin = await listen(other.app);
  const begun = await Promise.all(Array.from({ length: 20 }, begin));
  const closed = app.close();
  for (const { stream } of begun) t.equal(await stream.next(), null, 'no terminal event: the poll runs');
  await closed;
  t.ok(idle(context));
  const { id, worker } = begun[0]!;
  const again = await readStream(t, otherOrigin, { ...bearer, 'last-event-id': `${id}:0` });
  await worker.vote();
  await worker.end();
  t.same(
    (await again.all()).map(({ event }) => event),
    ['started', 'complete'],
  );
});

t.test('a stream whose end cannot be read ends without one, and its reader may come back', async (t) => {
  const { context } = await build(t);
  // The result is read, and then whether the poll was canceled.
  const db = context.storage.db.withPlugin({
    transformQuery({ node }) {
      if (JSON.stringify(node).includes('canceled_at')) throw new Error('Postgres is away');
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const ended = Promise.withResolvers<unknown[]>();
  const stream = { closed: false, send: () => {}, end: (...last: unknown[]) => ended.resolve(last) };
  const follower = { seq: 0, [Symbol.dispose]: () => {} };
  const events = new PollEvents(
    { ...context, storage: { ...context.storage, db } },
    stream as never,
    follower as never,
    { pollId: 'ps_unknown', options: ['A', 'B'] } as never,
  );
  events.onEnd({ status: 'failed', resultId: null, seq: 3, result: null });
  t.same(await ended.promise, []);
});
