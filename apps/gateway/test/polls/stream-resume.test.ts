import { randomUUID } from 'node:crypto';
import { holdOf, newPollId, newResultId, OPERATOR_ENTRY } from '@eloquentpoll/polls';
import { acceptPoll, findPoll } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { listen, POLL, readStream } from '../fixtures/read-stream.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const { app, context, keyWith } = await build(t);
const { accountId, bearer } = await keyWith(100);
const origin = await listen(app);
const other = await replicaOf(t, context);
const otherOrigin = await listen(other.app);

async function begin(headers: Record<string, string> = {}) {
  const stream = await readStream(t, origin, { ...bearer, ...headers });
  const first = (await stream.next())!;
  const id: string = first.data.session_id;
  return { stream, first, id, worker: await takePoll(context, id) };
}

const idle = ({ streams, bus, rereads } = context) =>
  streams.count() === 0 && bus.watched() === 0 && rereads.followed() === 0;

t.test(
  '[§A6-stream-reattach, §A6-stream-disconnect] a stream that was cut goes on elsewhere, after the event that was read last',
  async (t) => {
    const { stream, id, worker } = await begin();
    await worker.vote();
    await worker.vote(1);
    await stream.next();
    const cut = (await stream.next())!;
    t.equal(cut.id, `${id}:2`);
    stream.hangUp();
    await eventually('no stream and no watch is left', idle);
    const before = await stored(context);

    await worker.vote();
    const again = await readStream(t, otherOrigin, { ...bearer, 'last-event-id': cut.id });
    const next = (await again.next())!;
    t.match(next, {
      id: `${id}:3`,
      event: 'started',
      data: { ...POLL, progress: { received: 3 }, tally: { A: 2, B: 1 } },
    });
    await worker.vote();
    t.equal((await again.next())?.id, `${id}:4`);
    t.same(await stored(context), before, 'nothing was begun or charged');
    const response = await worker.end();
    const { seq, session_id, ...result } = (await again.next())!.data;
    t.same([session_id, result], [id, response]);
    t.ok(seq > 4);
    t.equal(await again.next(), null);
    t.same(again.retries, [3000]);
    await eventually('no stream and no watch is left at the other gateway', () => idle(other.context));
  },
);

t.test('votes that the operator pays for show no cost, neither those before the stream nor later ones', async (t) => {
  const { stream, id, worker } = await begin();
  await worker.vote();
  const paid = await readStream(t, origin, { ...bearer, 'last-event-id': `${id}:` });
  for (const event of [await stream.next(), await paid.next()])
    t.ok(event!.data.vote.estimated_cost > 0, 'a vote of a paid poll does');
  await worker.end();

  const { spec } = (await findPoll(context.storage, id))!;
  const poll = { id: newPollId(), resultId: newResultId(), accountId, spec, deadlineMs: 60_000 };
  const free = { dailyCapU: 10_000_000n };
  await acceptPoll(context.storage, { poll: { ...poll, entryPoint: OPERATOR_ENTRY }, holdU: holdOf(spec), free });
  const byHand = await takePoll(context, poll.id);
  await byHand.open();
  await byHand.vote();
  const events = await readStream(t, origin, { ...bearer, 'last-event-id': `${poll.id}:` });
  t.match((await events.next())!.data, { seq: 1, vote: { success: true, estimated_cost: 0 } });
  await byHand.vote();
  t.match((await events.next())!.data, { seq: 2, vote: { success: true, estimated_cost: 0 } });
  await byHand.end();
  t.match((await events.next())!.data, { costs: { total_estimated_cost: 0 }, votes: [{ estimated_cost: 0 }] });
});

t.test('a caller with the newest event does not get it again', async (t) => {
  const { stream, first, id, worker } = await begin();
  stream.hangUp();
  await worker.open();
  const again = await readStream(t, origin, { ...bearer, 'last-event-id': first.id });
  t.equal(again.status, 200, 'the head comes at once');
  await worker.vote();
  t.equal((await again.next())?.id, `${id}:1`);
  await worker.end();
  t.same(
    (await again.all()).map(({ event }) => event),
    ['started', 'complete'],
  );
  t.same(again.retries, [3000]);
});

t.test('the id of a poll alone follows it from where it stands, with what is asked', async (t) => {
  const { stream, id, worker } = await begin();
  stream.hangUp();
  const waiting = await readStream(t, origin, { ...bearer, 'last-event-id': id });
  t.match(await waiting.next(), { id: `${id}:0`, event: 'started', data: POLL });
  await worker.vote();
  await waiting.next();
  const late = await readStream(t, origin, { ...bearer, 'last-event-id': id });
  t.match(await late.next(), { id: `${id}:1`, data: { ...POLL, confidence_threshold: 0.95, tally: { A: 1, B: 0 } } });
  await worker.end();
  const bodiless = await fetch(`${origin}/api/poll/stream`, {
    method: 'POST',
    headers: { ...bearer, 'last-event-id': id },
  });
  t.match(await bodiless.text(), /event: complete/);
  for (const each of [waiting, late]) t.match((await each.all()).at(-1), { event: 'complete' });
});

t.test('the end of an ended poll is sent again, from Postgres', async (t) => {
  const { stream, first, id, worker } = await begin();
  stream.hangUp();
  await worker.vote();
  const response = await worker.end();
  for (const forget of [false, true]) {
    if (forget) await context.bus.redis.del(`${context.bus.prefix}:{${id}}:run`);
    for (const last of [first.id, `${id}:1`, `${id}:77`]) {
      const again = await readStream(t, origin, { ...bearer, 'last-event-id': last });
      const [event, ...more] = await again.all();
      t.same(more, []);
      const { seq, session_id, ...result } = event!.data;
      t.same([event!.event, session_id, result], ['complete', id, response]);
      t.ok(seq > Number(last.split(':')[1]));
    }
  }
  await eventually('no stream and no watch is left', idle);
});

t.test('only an own poll is resumed; any other is 404 before the first byte', async (t) => {
  const { stream, first } = await begin();
  stream.hangUp();
  const stranger = await keyWith(10);
  const before = await stored(context);
  const resume = (id: string, headers = bearer) =>
    app.inject({
      method: 'POST',
      url: '/api/poll/stream',
      headers: { ...headers, 'last-event-id': id },
      payload: POLL,
    });
  for (const [id, headers] of [
    [first.id, stranger.bearer],
    [`${newPollId()}:0`, bearer],
    [newPollId(), bearer],
    [first.id.replace(':0', ':x'), bearer],
    [first.id.replace(':0', ':-1'), bearer],
    [`${first.id}:0`.replace(':0:0', ':9999999999'), bearer],
    ['3', bearer],
    ["' or 1=1", bearer],
  ] as const) {
    const answer = await resume(id, headers);
    t.match([answer.statusCode, answer.json().code], [404, 'session_not_found'], id);
  }
  const anonymous = await app.inject({
    method: 'POST',
    url: '/api/poll/stream',
    headers: { 'last-event-id': first.id },
    payload: POLL,
  });
  t.equal(anonymous.statusCode, 401);
  t.same(await stored(context), before);
});

t.test('an empty Last-Event-ID is none', async (t) => {
  const stream = await readStream(t, origin, { ...bearer, 'last-event-id': '' });
  t.match(await stream.next(), { data: { seq: 0, phase: 'started' } });
  stream.hangUp();
});

t.test('a gateway whose clock is ten minutes ahead does not call a running poll overdue', async (t) => {
  const { stream, first, id, worker } = await begin();
  await worker.vote();
  stream.hangUp();
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  Date.now = () => now() + 600_000;
  const again = await readStream(t, otherOrigin, { ...bearer, 'last-event-id': first.id });
  t.equal((await again.next())?.id, `${id}:1`);
  for (let turn = 0; turn < 15; turn++) other.context.streams.turn();
  await worker.vote(1);
  t.match(await again.next(), { id: `${id}:2`, event: 'started' });
  await worker.end();
  t.equal((await again.next())?.event, 'complete');
});

t.test('resuming draws from the budget of reading, not from that of polls', async (t) => {
  const { stream, first } = await begin();
  stream.hangUp();
  const again = await readStream(t, origin, { ...bearer, 'last-event-id': first.id });
  t.equal(stream.headers.get('ratelimit-limit'), '1000');
  t.equal(again.headers.get('ratelimit-limit'), '12000');
  again.hangUp();
});

t.test(
  '[§8-idempotency-key, §8-idempotency-key-response, §A6-idempotency-replayed, §A6-idempotency-running] the same key attaches to the same poll',
  async (t) => {
    const key = { 'idempotency-key': `"${randomUUID()}"` };
    const { stream, id, worker } = await begin(key);
    const before = await stored(context);
    await worker.vote();
    const second = await readStream(t, otherOrigin, { ...bearer, ...key });
    for (const { headers } of [stream, second]) t.equal(headers.get('idempotency-key'), key['idempotency-key']);
    t.equal(stream.headers.get('idempotent-replayed'), null);
    t.equal(second.headers.get('idempotent-replayed'), 'true');
    t.match(await second.next(), { id: `${id}:1`, data: { ...POLL, phase: 'voting' } });
    await worker.vote();
    await worker.end();
    const [one, two] = await Promise.all([stream.all(), second.all()]);
    t.same(two.slice(1), one.slice(2), 'both hear the same');
    t.same(
      one.map(({ event }) => event),
      ['started', 'started', 'started', 'complete'],
    );

    const late = await readStream(t, origin, { ...bearer, ...key });
    const [first, last, ...more] = await late.all();
    t.match([first, last, more], [{ event: 'started', data: { seq: 0 } }, one.at(-1), { length: 0 }]);
    const after = await stored(context);
    t.same([after.polls, after.idempotency], [before.polls, before.idempotency]);
    t.equal((await findPoll(context.storage, id))?.entryPoint, 'stream');
  },
);

t.test('a hundred requests with one key at two gateways are one poll', async (t) => {
  const key = { 'idempotency-key': randomUUID() };
  const before = await stored(context);
  const streams = await Promise.all(
    Array.from({ length: 100 }, (_, i) => readStream(t, i % 2 ? origin : otherOrigin, { ...bearer, ...key })),
  );
  const ids = new Set(await Promise.all(streams.map(async (stream) => (await stream.next())?.data.session_id)));
  t.equal(ids.size, 1);
  const [id] = ids;
  const worker = await takePoll(context, id);
  await worker.vote();
  await worker.end();
  for (const stream of streams) t.equal((await stream.all()).at(-1)?.event, 'complete');
  t.equal((await stored(context)).polls, before.polls! + 1);
  await eventually('no stream and no watch is left at either gateway', () => idle() && idle(other.context));
});
