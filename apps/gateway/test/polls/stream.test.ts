import { randomUUID } from 'node:crypto';
import { StreamComplete, StreamError, StreamStarted } from '@eloquentpoll/contracts';
import { balanceOf } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t, { type Test } from 'tap';
import { namedSchemas } from '../../src/http/validation/validator.ts';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { listen, POLL, type ReadEvent, readStream } from '../fixtures/read-stream.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const { app, context, keyWith } = await build(t);
const { bearer, accountId } = await keyWith(100);
const origin = await listen(app);

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, schemas: [...namedSchemas] });
formats.default(ajv);
const SHAPES: Record<string, { $id?: string }> = {
  started: StreamStarted,
  complete: StreamComplete,
  error: StreamError,
};

/** The rules that hold for every stream. */
function check(t: Test, events: readonly ReadEvent[], sessionId: string): void {
  let seq = -1;
  for (const [i, { id, event, data }] of events.entries()) {
    const shape = ajv.getSchema(String(SHAPES[event]?.$id));
    t.ok(shape?.(data), `${event} ${i}: ${ajv.errorsText(shape?.errors)}`);
    t.ok(data.seq > seq, 'numbers rise');
    seq = data.seq;
    t.equal(id, `${sessionId}:${event === 'started' ? seq : 'end'}`);
    t.equal(data.session_id, sessionId);
    t.equal(event !== 'started', i === events.length - 1, 'exactly one complete or error, and it is the last');
  }
}

const idle = () => context.streams.count() === 0 && context.bus.watched() === 0 && context.rereads.followed() === 0;

t.test(
  '[§4.1-stream-200, §6-event-started, §6-event-complete, §6-event-kinds, §6-progress, §A6-sse-snapshots, §A6-sse-one-terminal] a stream sends each vote as a whole snapshot, then the result',
  async (t) => {
    const stream = await readStream(t, origin, bearer);
    t.equal(stream.status, 200);
    const { headers } = stream;
    t.equal(headers.get('content-type'), 'text/event-stream');
    t.equal(headers.get('cache-control'), 'no-cache, no-transform');
    t.equal(headers.get('x-accel-buffering'), 'no');
    t.equal(headers.get('content-encoding'), null);
    for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'x-request-id', 'x-content-type-options'])
      t.ok(headers.get(name), name);

    const first = await stream.next();
    const id: string = first!.data.session_id;
    const worker = await takePoll(context, id);
    const total = worker.claim.spec.seats.length;
    t.match(first, {
      event: 'started',
      data: {
        seq: 0,
        phase: 'started',
        ...POLL,
        poll_type: 'fptp',
        preset: 'broad',
        confidence_threshold: 0.95,
        max_cost_usd: 1,
        models_requested: total,
        progress: { received: 0, succeeded: 0, failed: 0, total },
        tally: { A: 0, B: 0 },
        leader: null,
        vote: null,
        status_url: `https://polls.example/api/polls/${id}/status`,
        result_url: `https://polls.example/api/polls/${id}/result`,
      },
    });
    await worker.open();
    for (const [i, option] of [0, 1, null, 0].entries()) {
      await worker.vote(option);
      const { event, data } = (await stream.next())!;
      const succeeded = Object.values<number>(data.tally).reduce((sum, votes) => sum + votes, 0);
      t.match(
        [event, data],
        ['started', { seq: i + 1, phase: 'voting', progress: { received: i + 1, succeeded, total } }],
      );
      t.equal(data.vote.success, option !== null);
    }
    const response = await worker.end();
    t.equal(await stream.next().then((event) => event?.event), 'complete');
    t.equal(await stream.next(), null, 'then the stream ends');
    check(t, stream.events, id);
    const { seq, session_id, ...result } = stream.events.at(-1)!.data;
    t.same(result, response, 'complete is the poll response');
    t.same(stream.retries, [3000], 'said once');
    await eventually('no stream and no watch is left', idle);
    const answer = await app.inject({ url: `/api/polls/${id}/result`, headers: bearer });
    t.same(answer.json(), result);
  },
);

t.test('[§A6-sse-progress-none] without progress there is one started and the end', async (t) => {
  const stream = await readStream(t, origin, bearer, { query: '?progress=none' });
  const id: string = (await stream.next())!.data.session_id;
  const worker = await takePoll(context, id);
  await worker.open();
  for (let i = 0; i < 4; i++) await worker.vote();
  await worker.end();
  const events = await stream.all();
  t.same(
    events.map(({ event }) => event),
    ['started', 'complete'],
  );
  check(t, events, id);
});

t.test('options named like members of a prototype are counted right', async (t) => {
  const options = ['__proto__', 'constructor', 'toString', 'line\nbreak'];
  const stream = await readStream(t, origin, bearer, { body: { ...POLL, options: options.slice(0, 3) } });
  const id: string = (await stream.next())!.data.session_id;
  const worker = await takePoll(context, id);
  await worker.vote(0);
  const { data } = (await stream.next())!;
  t.same(Object.entries(data.tally), [
    ['__proto__', 1],
    ['constructor', 0],
    ['toString', 0],
  ]);
  t.equal(data.leader, '__proto__');
  await worker.end();
  check(t, await stream.all(), id);
});

t.test('text with line breaks stays one line of data', async (t) => {
  const question = 'First line\nsecond line\r\ndata: not an event\n\nevent: complete?';
  const stream = await readStream(t, origin, bearer, { body: { ...POLL, question } });
  const first = (await stream.next())!;
  t.equal(first.data.question, question);
  const worker = await takePoll(context, first.data.session_id);
  await worker.vote();
  await worker.end();
  const events = await stream.all();
  t.same(
    events.map(({ event }) => event),
    ['started', 'started', 'complete'],
  );
});

t.test(
  '[§4.1-stream-400, §4.1-stream-401, §4.1-stream-402, §4.1-stream-body] what is wrong before the first byte is an ordinary answer',
  async (t) => {
    const poor = await keyWith(0);
    const key = randomUUID();
    const first = await readStream(t, origin, { ...bearer, 'idempotency-key': key });
    first.hangUp();
    const before = await stored(context);
    const refused: [object, Record<string, string>, number, string][] = [
      [{ options: ['A', 'B'] }, bearer, 400, 'validation_error'],
      [{ question: POLL.question }, bearer, 400, 'validation_error'],
      [{ ...POLL, options: ['A', 'A '] }, bearer, 400, 'validation_error'],
      [{ ...POLL, preset: 'slow' }, bearer, 400, 'invalid_preset'],
      [{ ...POLL, dry_run: true }, bearer, 400, 'validation_error'],
      [POLL, {}, 401, 'authentication_required'],
      [POLL, { authorization: 'Bearer unknown' }, 401, 'invalid_api_key'],
      [POLL, poor.bearer, 402, 'insufficient_balance'],
      [POLL, { ...bearer, accept: 'application/json' }, 406, 'not_acceptable'],
      [POLL, { ...bearer, accept: 'text/event-stream;q=0, application/json' }, 406, 'not_acceptable'],
      [POLL, { ...bearer, 'idempotency-key': ' ' }, 400, 'validation_error'],
      [{ ...POLL, options: ['A', 'C'] }, { ...bearer, 'idempotency-key': key }, 422, 'idempotency_key_reused'],
    ];
    for (const [payload, headers, status, code] of refused) {
      const answer = await app.inject({ method: 'POST', url: '/api/poll/stream', headers, payload });
      t.match([answer.statusCode, answer.json().code], [status, code], `${status} ${code}`);
      t.match(answer.headers['content-type'], /^application\/json/);
    }
    const query = { method: 'POST', url: '/api/poll/stream?progress=some', headers: bearer, payload: POLL } as const;
    t.equal((await app.inject(query)).statusCode, 400);
    t.same(await stored(context), before);
    await eventually('no stream and no watch is left', idle);
  },
);

t.test('any Accept that does not exclude a stream gets one', async (t) => {
  for (const accept of [
    'text/event-stream',
    '*/*',
    'text/*',
    'application/json, text/event-stream',
    'application/problem+json',
    'TEXT/EVENT-STREAM; charset=utf-8; q=0.5',
  ]) {
    const stream = await readStream(t, origin, { ...bearer, accept });
    t.equal(stream.status, 200, accept);
    stream.hangUp();
  }
  await eventually('no stream and no watch is left', idle);
});

t.test('[§6-event-error] a poll without a valid vote ends in an error', async (t) => {
  const stream = await readStream(t, origin, bearer);
  const id: string = (await stream.next())!.data.session_id;
  const worker = await takePoll(context, id);
  await worker.vote(null);
  await worker.end();
  const events = await stream.all();
  check(t, events, id);
  t.match(events.at(-1), {
    event: 'error',
    data: {
      code: 'poll_failed',
      retryable: false,
      recovery: [{ action: 'ask_again' }, { action: 'open_documentation' }],
    },
  });
  await eventually('no stream and no watch is left', idle);
});

t.test('[§6-event-error, §1-reason-budget] a maximum that pays for no call is not worth asking again', async (t) => {
  const stream = await readStream(t, origin, bearer);
  const id: string = (await stream.next())!.data.session_id;
  await (await takePoll(context, id)).end({ reason: 'budget' });
  t.match((await stream.all()).at(-1), {
    event: 'error',
    data: {
      error: /^\$\S+ does not pay for one vote; the cheapest costs up to \$0\.\d+\.$/,
      code: 'budget_too_small',
      min_cost_usd: Number,
      retryable: false,
      recovery: [{ action: 'open_documentation' }],
    },
  });
  await eventually('no stream and no watch is left', idle);
});

t.test('a poll that was given up ends in an error, costs nothing, and leaves its key free', async (t) => {
  const key = { 'idempotency-key': randomUUID() };
  const balance = await balanceOf(context.storage, accountId);
  for (const silent of [false, true]) {
    const stream = await readStream(t, origin, { ...bearer, ...key });
    t.equal(stream.headers.get('idempotent-replayed'), null);
    const id: string = (await stream.next())!.data.session_id;
    await (await takePoll(context, id)).bury({ silent });
    const events = await stream.all();
    check(t, events, id);
    t.match(events.at(-1), { event: 'error', data: { code: 'poll_execution_failed' } });
  }
  t.same((await balanceOf(context.storage, accountId))?.availableU, balance?.availableU);
});

t.test('a connection serves other requests after its stream', async (t) => {
  const { Agent, request } = await import('node:http');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const headers = { ...bearer, 'content-type': 'application/json' };
  const ports = new Set<number | undefined>();
  const finish = async (id: string) => {
    const worker = await takePoll(context, id);
    await worker.vote();
    await worker.end();
  };
  for (let i = 0; i < 3; i++) {
    const ended = Promise.withResolvers<void>();
    const asked = request(`${origin}/api/poll/stream`, { method: 'POST', agent, headers }, (answer) => {
      ports.add(answer.socket.localPort);
      answer.once('data', (chunk) => void finish(/ps_[0-9a-z]{24}/.exec(String(chunk))![0]));
      answer.on('data', () => {}).once('end', ended.resolve);
    });
    asked.end(JSON.stringify(POLL));
    await ended.promise;
  }
  t.equal(ports.size, 1);
});
