import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { streamSlots } from '../../src/http/sse/stream-slots.ts';
import { build } from '../fixtures/build.ts';
import { listen, readStream } from '../fixtures/read-stream.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 4 s

const { app, context, keyWith } = await build(t, { streams: { perAccount: 3, perNetwork: 2 } });
const origin = await listen(app);

t.test('streams above the limit of an account are a 429, begin nothing and cost nothing', async (t) => {
  const { bearer } = await keyWith(100);
  const open = [];
  for (let i = 0; i < 3; i++) open.push(await readStream(t, origin, bearer));
  t.same(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  const before = await stored(context);
  const first = (await open[0]!.next())!;
  for (const more of [{}, { 'last-event-id': first.id }]) {
    const refused = await readStream(t, origin, { ...bearer, ...more });
    t.equal(refused.status, 429);
    t.equal(refused.headers.get('retry-after'), '5');
  }
  t.same(await stored(context), before);

  const neighbour = await readStream(t, origin, (await keyWith(100)).bearer);
  t.equal(neighbour.status, 200, 'another account has slots of its own');
  open[0]!.hangUp();
  await eventually('a slot is free again', async () => {
    const next = await readStream(t, origin, { ...bearer, 'last-event-id': first.id });
    return next.status === 200;
  });
});

t.test('a key that only reads follows as many streams as its own, and takes none from its owner', async (t) => {
  const { bearer } = await keyWith(100);
  const answer = await app.inject({ method: 'POST', url: '/api/keys', headers: bearer, payload: { read_only: true } });
  const reading = { authorization: `Bearer ${answer.json().key}` };
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const path = '/api/a2a/tasks/send';
  const parts = [{ text: JSON.stringify({ question: 'Which of the two is larger?', options: ['Sun', 'Moon'] }) }];
  const message = { messageId: 'm', role: 'ROLE_USER', parts };
  const asked = rpc('SendStreamingMessage', { message });
  const made = (await (await readStream(t, origin, bearer, { path, body: asked })).next())!.data.result.task;
  const subscribe = () => readStream(t, origin, reading, { path, body: rpc('SubscribeToTask', { id: made.id }) });
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await subscribe()).status);
  t.same(statuses, [200, 200, 200, 429]);
  t.equal((await readStream(t, origin, bearer)).status, 200);
});

t.test('a refused or failed start gives its slot back', async (t) => {
  const { bearer } = await keyWith(100);
  for (let i = 0; i < 4; i++) {
    const unknown = await readStream(t, origin, { ...bearer, 'last-event-id': 'ps_none:1' });
    t.equal(unknown.status, 404);
  }
  t.equal((await readStream(t, origin, bearer)).status, 200);
});

t.test('anonymous streams count for their network', async (t) => {
  const ask = () =>
    fetch(`${origin}/api/quick-poll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ poll: 'Which is larger? [Sun, Moon]' }),
    });
  const answers = [await ask(), await ask(), await ask()];
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 429],
  );
  for (const answer of answers) await answer.body?.cancel();
});

t.test('streams at all gateways count together; those of a gateway that died do not, after their time', async (t) => {
  const { bearer } = await keyWith(100);
  const replica = await replicaOf(t, context);
  const there = await listen(replica.app);
  const open = [await readStream(t, origin, bearer), await readStream(t, there, bearer)];
  open.push(await readStream(t, origin, bearer));
  t.same(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  t.equal((await readStream(t, there, bearer)).status, 429, 'one stream here, three in all');

  const { redis, prefix } = context.bus;
  const [key = ''] = await redis.keys(`${prefix}:streams:*`);
  t.ok((await redis.pttl(key)) > 0, 'what is forgotten ends by itself');
  for (const slot of await redis.zrange(key, '0', '-1')) await redis.zadd(key, '1', slot);
  t.equal((await readStream(t, there, bearer)).status, 200, 'slots whose time is over are free');
});

t.test('a stream that stays open for longer than a slot is counted until it ends', async (t) => {
  const { bearer, accountId } = await keyWith(100);
  const slots = streamSlots(context.bus.redis, context.bus.prefix, context.config.streams, 20);
  const { app: other, context: theirs } = await replicaOf(t, context, { streamSlots: slots });
  const there = await listen(other);
  const open = [];
  for (let i = 0; i < 3; i++) open.push(await readStream(t, there, bearer));
  t.same(
    open.map(({ status }) => status),
    [200, 200, 200],
  );
  const { redis, prefix } = theirs.bus;
  const keys = await redis.keys(`${prefix}:streams:*`);
  const key = keys.find((each) => each.includes(accountId))!;
  const isFull = async () => (await redis.zcount(key, Date.now(), '+inf')) === 3;
  for (const slot of await redis.zrange(key, '0', '-1')) await redis.zadd(key, '1', slot);
  await eventually('slots whose time was over are renewed', isFull);
  t.equal((await readStream(t, origin, bearer)).status, 429);
  await redis.del(key);
  await eventually('slots that Redis lost are there again', isFull);
  for (const stream of open) stream.hangUp();
  await eventually('no slot is left', async () => (await redis.zcard(key)) === 0);
  t.equal((await readStream(t, origin, bearer)).status, 200);
});
