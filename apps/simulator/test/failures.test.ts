import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import type { Failure } from '../src/app.ts';
import { COLOURS, paper, type Running, start, vote } from './start.ts';

// Every scripted failure, as it is seen on the wire.

interface Seen {
  status: number | null;
  headers: NodeJS.Dict<string | string[]>;
  /** Pieces in the order in which they arrived. */
  pieces: string[];
  body: string;
  /** Code of the socket error; null when the response ended as it should. */
  error: string | null;
}

interface Watched {
  seen: Seen;
  ended: Promise<Seen>;
  leave: () => void;
}

/** Sends one vote by a bare HTTP client, and keeps what arrives. */
function watch(running: Running, body: object = vote('sim/oak-1')): Watched {
  const seen: Seen = { status: null, headers: {}, pieces: [], body: '', error: null };
  const { promise, resolve } = Promise.withResolvers<Seen>();
  const fail = (error: NodeJS.ErrnoException) => {
    seen.error = error.code ?? error.message;
    resolve(seen);
  };
  const headers = { 'content-type': 'application/json', authorization: 'Bearer secret-canary' };
  const sent = request(`${running.url}/v1/chat/completions`, { method: 'POST', headers, agent: false }, (response) => {
    seen.status = response.statusCode ?? null;
    seen.headers = response.headers;
    response.setEncoding('utf8');
    response.on('data', (piece: string) => {
      seen.pieces.push(piece);
      seen.body += piece;
    });
    response.on('error', fail);
    response.on('end', () => resolve(seen));
  });
  sent.on('error', fail);
  sent.end(JSON.stringify(body));
  return { seen, ended: promise, leave: () => sent.destroy() };
}

async function failing(t: Parameters<typeof start>[0], failure: Failure, body?: object): Promise<[Running, Watched]> {
  const running = await start(t);
  await running.behave('sim/oak-1', { steps: [failure] });
  return [running, watch(running, body)];
}

const messageOf = (seen: Seen) => JSON.parse(seen.body).choices[0].message;

for (const status of [429, 500, 502, 503, 529])
  t.test(`status ${status}, without and with Retry-After`, async (t) => {
    const [running, plain] = await failing(t, { kind: 'status', status });
    t.match(await plain.ended, { status, error: null });
    t.equal(plain.seen.headers['retry-after'], undefined);
    t.match(JSON.parse(plain.seen.body), { error: { message: String, code: 'simulated' } });
    await running.behave('sim/oak-1', { steps: [{ kind: 'status', status, retry_after_s: 1.5 }] });
    t.match(await watch(running).ended, { status, headers: { 'retry-after': '1.5' } });
  });

t.test('reset: the connection breaks before the answer', async (t) => {
  const [, watched] = await failing(t, { kind: 'reset' });
  t.match(await watched.ended, { status: null, error: 'ECONNRESET' });
});

t.test('cut: the connection breaks in the middle of the answer', async (t) => {
  const [, watched] = await failing(t, { kind: 'cut' });
  const seen = await watched.ended;
  t.match(seen, { status: 200, error: 'ECONNRESET' });
  t.ok(seen.body.length > 0 && seen.body.length < Number(seen.headers['content-length']));
});

t.test('hang before the first byte, until the caller leaves', async (t) => {
  const [running, watched] = await failing(t, { kind: 'hang_before_first_byte' });
  await eventually('the call hangs', async () => (await running.calls('?outcome=pending')).length === 1);
  t.equal(watched.seen.status, null);
  watched.leave();
  await eventually('the hang has ended', async () => (await running.calls('?outcome=gone')).length === 1);
});

t.test('hang after the first byte, until the caller leaves', async (t) => {
  const [running, watched] = await failing(t, { kind: 'hang_after_first_byte' });
  await eventually('a byte has arrived', () => watched.seen.body.length > 0);
  t.match(watched.seen, { status: 200, body: '{' });
  t.equal((await running.calls('?outcome=pending')).length, 1);
  watched.leave();
  await eventually('the hang has ended', async () => (await running.calls('?outcome=gone')).length === 1);
});

t.test('hangs end when the simulator closes', async (t) => {
  const [running, before] = await failing(t, { kind: 'hang_before_first_byte' });
  await eventually('the call hangs', async () => (await running.calls('?outcome=pending')).length === 1);
  await running.behave('sim/oak-2', { steps: [{ kind: 'hang_after_first_byte' }] });
  const after = watch(running, vote('sim/oak-2'));
  await eventually('a byte has arrived', () => after.seen.body.length > 0);
  await running.close();
  t.ok((await before.ended).error);
  t.ok((await after.ended).error);
});

t.test('closing does not wait for a connection that never asked anything', async (t) => {
  const running = await start(t);
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  const ended = once(socket, 'close');
  await once(socket, 'connect');
  await eventually('the connection is accepted', async () => (await running.connections()) >= 1);
  await running.close();
  await ended;
  t.pass('the connection was cut');
});

t.test('html: a page instead of an answer', async (t) => {
  const [, watched] = await failing(t, { kind: 'html' });
  t.match(await watched.ended, { status: 200, headers: { 'content-type': /^text\/html/ }, body: /^<!doctype html>/ });
});

t.test('truncated_json: half an answer that ends as if it were whole', async (t) => {
  const [, watched] = await failing(t, { kind: 'truncated_json' });
  t.match(await watched.ended, { status: 200, error: null, body: /^\{"id"/ });
  t.throws(() => JSON.parse(watched.seen.body));
});

t.test('truncated_json of a stream: it stops without [DONE]', async (t) => {
  const [, watched] = await failing(t, { kind: 'truncated_json' }, { ...vote('sim/oak-1'), stream: true });
  t.match(await watched.ended, { status: 200, error: null, body: /^data: / });
  t.notMatch(watched.seen.body, /\[DONE\]/);
});

t.test('wrong_shape: JSON, but no completion', async (t) => {
  const [, watched] = await failing(t, { kind: 'wrong_shape' });
  t.same(JSON.parse((await watched.ended).body), { result: 'ok' });
});

t.test('huge: more than anybody wants, sent only as fast as it is read', async (t) => {
  const [running, watched] = await failing(t, { kind: 'huge', bytes: 2 ** 30 });
  await eventually('more than a megabyte has arrived', () => watched.seen.body.length > 1_000_000);
  watched.leave();
  await eventually('sending has ended', async () => (await running.calls('?outcome=gone')).length === 1);
});

t.test('slow_drip: the whole answer in small pieces', async (t) => {
  const [, watched] = await failing(t, { kind: 'slow_drip', piece_bytes: 100, delay_ms: 2 });
  const seen = await watched.ended;
  t.ok(seen.pieces.length >= 3, `${seen.pieces.length} pieces`);
  t.match(messageOf(seen), { content: /choice/ });
});

t.test('late: the answer comes after the wait that was asked for', async (t) => {
  const [running, watched] = await failing(t, { kind: 'late', delay_ms: 60 });
  t.match(messageOf(await watched.ended), { content: /choice/ });
  t.ok((await running.calls())[0]!.duration_ms! >= 59);
});

t.test('leak: the error repeats the credential and the question', async (t) => {
  const [, watched] = await failing(t, { kind: 'leak' });
  t.match(await watched.ended, { status: 500, body: /secret-canary.*calmest/ });
});

const tools = [
  {
    type: 'function',
    function: {
      name: 'vote',
      parameters: { type: 'object', properties: { choice: { type: 'string', enum: ['QJ', 'ZR'] } } },
    },
  },
];
const messages = [{ role: 'user', content: paper('Which colour?', COLOURS.slice(0, 2)) }];
const byTool = { model: 'sim/oak-1', messages, tools };
const byText = { model: 'sim/oak-1', messages };

t.test('wrong_tool', async (t) => {
  const [, watched] = await failing(t, { kind: 'wrong_tool' }, byTool);
  t.match(messageOf(await watched.ended), { tool_calls: [{ function: { name: 'search_web' } }] });
});

t.test('label_outside_enum, in all three forms', async (t) => {
  const [running, json] = await failing(t, { kind: 'label_outside_enum' });
  t.same(JSON.parse(messageOf(await json.ended).content), { choice: 'ZZZZ' });
  await running.behave('sim/oak-1', { failures: [{ kind: 'label_outside_enum', rate: 1 }] });
  t.match(messageOf(await watch(running, byTool).ended), { tool_calls: [{ function: { arguments: /"ZZZZ"/ } }] });
  t.match(messageOf(await watch(running, byText).ended), { content: /VOTE: ZZZZ$/ });
});

t.test('two_tool_calls: two different votes', async (t) => {
  const [, watched] = await failing(t, { kind: 'two_tool_calls' }, byTool);
  const calls = messageOf(await watched.ended).tool_calls as { function: { arguments: string } }[];
  t.same(new Set(calls.map((call) => JSON.parse(call.function.arguments).choice)), new Set(['QJ', 'ZR']));
});

t.test('refusal, empty, prose and length: no vote', async (t) => {
  const [running, refusal] = await failing(t, { kind: 'refusal' });
  t.match(messageOf(await refusal.ended), { content: null, refusal: String });
  await running.behave('sim/oak-1', { steps: [{ kind: 'empty' }, { kind: 'prose' }, { kind: 'length' }] });
  t.equal(messageOf(await watch(running).ended).content, '');
  t.notMatch(messageOf(await watch(running).ended).content, /QJ|ZR|HN/);
  const cut = await watch(running).ended;
  t.match(JSON.parse(cut.body), { choices: [{ finish_reason: 'length' }] });
  t.throws(() => JSON.parse(messageOf(cut).content));
});

t.test('missing_usage, and usage ten times what it was', async (t) => {
  const [running, missing] = await failing(t, { kind: 'missing_usage' });
  const without = JSON.parse((await missing.ended).body);
  t.notOk('usage' in without);
  t.match(without.choices[0].message, { content: /choice/ }, 'the vote is there');
  const usage = async () => JSON.parse((await watch(running).ended).body).usage;
  const honest = await usage();
  await running.behave('sim/oak-1', { steps: [{ kind: 'usage_times' }] });
  const tenfold = await usage();
  t.equal(tenfold.prompt_tokens, honest.prompt_tokens * 10);
  t.ok(Math.abs(tenfold.cost - honest.cost * 10) < 1e-8);
});
