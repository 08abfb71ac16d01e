import type { ServerResponse } from 'node:http';
import t, { type Test } from 'tap';
import { createMcpBridge } from '../src/mcp/mcp-bridge.ts';
import { type Answering, serve, withoutWaiting } from './service.ts';

// How polls of an MCP host survive a connection that does not, without a second poll.

interface Written {
  id?: number | string;
  method?: string;
  params?: { progress?: number };
  result?: { content?: { text: string }[] };
  error?: { message: string; data?: object };
}

async function bridgeTo(t: Test, answering: Answering) {
  const waits = withoutWaiting(t);
  const { url, asked } = await serve(t, answering);
  const written: Written[] = [];
  const notes: string[] = [];
  const bridge = createMcpBridge(
    { EP_URL: url, EP_KEY: 'ep_k_x' },
    { write: (message) => void written.push(message as Written), note: (text) => void notes.push(text) },
  );
  const keys = () => asked.map(({ headers }) => headers['idempotency-key']);
  return { bridge, asked, written, notes, waits, keys };
}

const call = (name: string, given: object = {}, meta?: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given, _meta: meta } });
const poll = (given: object = {}, meta?: object) => call('poll_question', given, meta);
const MODERN = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const DONE = { jsonrpc: '2.0', id: 1, result: { structuredContent: { winning_option: 'A' } } };
const KEY = /^[\da-f]{8}-[\da-f-]{27}$/;
const event = (message: object) => `data: ${JSON.stringify(message)}\n\n`;
const progress = (step: number) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: step } });

t.test('a poll whose answer is lost is asked for again with its key, however it was lost', async (t) => {
  const { bridge, asked, written, keys, waits } = await bridgeTo(t, (_asked, response, nth) => {
    if (nth === 1) return void response.socket?.destroy();
    if (nth === 2) return void response.writeHead(502).end('<h1>Bad gateway</h1>');
    if (nth === 5) return DONE;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (nth === 3) return void response.end(event(progress(1)) + event(progress(2)));
    return void response.write(event(progress(2)) + event(progress(3)), () => response.socket?.destroy());
  });
  await bridge.take(poll({ question: 'Which?' }));
  t.same(written, [progress(1), progress(2), progress(3), DONE], 'progress never goes back');
  t.equal(asked.length, 5);
  t.match(keys()[0], KEY);
  t.equal(new Set(keys()).size, 1, 'it is one poll');
  t.ok(
    waits.every((ms, nth) => ms >= 500 * 2 ** nth && ms < 1_000 * 2 ** nth),
    `longer each time: ${waits}`,
  );
});

t.test('repeats are bounded, and then the error says how to join the poll', async (t) => {
  const lost = await bridgeTo(t, (_asked, response) => void response.socket?.destroy());
  await lost.bridge.take(poll());
  t.equal(lost.asked.length, 6);
  const way = `The poll may go on and be charged: the same call with the idempotency_key ${lost.keys()[0]} joins it`;
  t.match(lost.written, [{ id: 1, error: { message: /cannot be reached: / } }]);
  t.match(lost.written[0]?.error?.message, way);

  const own = await bridgeTo(t, (_asked, response) => void response.socket?.destroy());
  await own.bridge.take(poll({ idempotency_key: 'k' }));
  t.equal(own.asked.length, 6, 'the key of the host is one, too');
  t.same(new Set(own.keys()), new Set([undefined]), 'and is not sent twice');
  t.match(own.written[0]?.error?.message, /with the same idempotency_key joins it\.$/);
});

t.test('a call that makes no poll is sent once', async (t) => {
  const { bridge, asked, written, keys } = await bridgeTo(t, (_asked, response) => void response.socket?.destroy());
  await bridge.take(call('get_balance'));
  t.equal(asked.length, 1);
  t.same(keys(), [undefined]);
  t.match(written[0]?.error?.message, /cannot be reached: [^.]*\.$/);
});

t.test('a poll that the service has made, but whose end it does not know, is asked for again', async (t) => {
  const problem = { error: 'Not known yet.', code: 'service_unavailable', retryable: true, session_id: 'ps_1' };
  const unknown = {
    ...{ jsonrpc: '2.0', id: 1 },
    result: { isError: true, content: [{ type: 'text', text: JSON.stringify({ ...problem, recovery: [BACK_OFF] }) }] },
  };
  const known = await bridgeTo(t, (_asked, _response, nth) => (nth === 1 ? unknown : DONE));
  await known.bridge.take(poll());
  t.same(known.written, [DONE]);
  t.ok(known.waits[0]! >= 2_500, 'not sooner than it says');
  const never = await bridgeTo(t, () => unknown);
  await never.bridge.take(poll());
  const [said, way] = never.written[0]?.result?.content ?? [];
  t.match(JSON.parse(said?.text ?? ''), problem, 'its own answer');
  t.match(way?.text, `the same call with the idempotency_key ${never.keys()[0]} joins it`);
});
const BACK_OFF = { action: 'back_off', description: 'Wait.', after_seconds: 2 };

t.test('what asking again cannot change is passed on at once', async (t) => {
  for (const [answer, status] of [
    [{ jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'Wrong', data: { retryable: false } } }, 400],
    [{ error: 'Wrong key', code: 'invalid_api_key' }, 401],
    [
      { jsonrpc: '2.0', id: 1, result: { isError: true, content: [{ type: 'text', text: '{"retryable":false}' }] } },
      200,
    ],
  ] as const) {
    const { bridge, asked, written } = await bridgeTo(t, (_asked, response) => {
      response.statusCode = status;
      return answer;
    });
    await bridge.take(poll());
    t.equal(asked.length, 1, `${status}`);
    t.notMatch(JSON.stringify(written), 'may go on');
  }
  const later = (seconds: number) => (_asked: unknown, response: ServerResponse, nth: number) => {
    if (nth === 1 && seconds > 60) return void response.socket?.destroy();
    response.writeHead(429, { 'retry-after': String(seconds) });
    return { error: 'Later.', code: 'rate_limited', retryable: true };
  };
  const busy = await bridgeTo(t, later(1));
  await busy.bridge.take(poll());
  t.equal(busy.asked.length, 1, 'the service made no poll');
  t.match(busy.written, [{ error: { message: 'Later.', data: { code: 'rate_limited' } } }]);
  const long = await bridgeTo(t, later(3_600));
  await long.bridge.take(poll());
  t.equal(long.asked.length, 2, 'nor is an hour waited');
  t.match(long.written[0]?.error?.message, /^Later\. The poll may go on/);
});

t.test('a canceled call of 2026-07-28 stops its poll, because its key lets it go on otherwise', async (t) => {
  const hangs: Answering = ({ path, body }) => {
    if (path.endsWith('/cancel')) return { session_id: 'ps_1', status: 'completed', result_id: null };
    const { id } = body as { id: unknown };
    return id === 'stop' ? { jsonrpc: '2.0', id, result: { resultType: 'task', taskId: 'ps_1' } } : undefined;
  };
  const { bridge, asked, written, notes, keys } = await bridgeTo(t, hangs);
  const calling = bridge.take(poll({ question: 'Which?' }, MODERN));
  while (asked.length === 0) await new Promise((done) => setImmediate(done));
  await bridge.take('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}');
  await calling;
  t.same([written, notes], [[], []]);
  t.match(asked[1]?.body, {
    params: {
      arguments: { question: 'Which?' },
      _meta: { 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
    },
  });
  t.equal(keys()[1], keys()[0], 'which names the poll');
  t.match(asked[2], { method: 'POST', path: '/api/polls/ps_1/cancel', headers: { authorization: 'Bearer ep_k_x' } });

  for (const [given, meta, why] of [
    [{ idempotency_key: 'k' }, MODERN, 'its host can ask for it again'],
    [{}, undefined, 'earlier revisions let it go on'],
  ] as const) {
    const other = await bridgeTo(t, hangs);
    const going = other.bridge.take(poll(given, meta));
    while (other.asked.length === 0) await new Promise((done) => setImmediate(done));
    other.bridge.end();
    await going;
    t.equal(other.asked.length, 1, why);
  }
});

t.test('a poll that cannot be stopped is said to go on', async (t) => {
  const { bridge, asked, notes } = await bridgeTo(t, (_asked, response, nth) => {
    if (nth > 1) response.socket?.destroy();
  });
  const calling = bridge.take(poll({}, MODERN));
  while (asked.length === 0) await new Promise((done) => setImmediate(done));
  bridge.end();
  await calling;
  t.match(notes, [/may go on and be charged/]);
});

t.test('a connection on which nothing is heard any more counts as lost, and no answer fills the memory', async (t) => {
  const silent = await bridgeTo(t, (_asked, _response, nth) => (nth === 1 ? undefined : DONE));
  withoutWaiting(t, (ms) => ms === 60_000, 100);
  await silent.bridge.take(poll());
  t.same(silent.written, [DONE]);
  t.equal(new Set(silent.keys()).size, 1);
  for (const type of ['application/json', 'text/event-stream']) {
    const endless = await bridgeTo(t, (_asked, response) => {
      response.writeHead(200, { 'content-type': type });
      const piece = 'data: '.padEnd(2 ** 20, 'x');
      const more = () => void response.write(piece, () => response.destroyed || more());
      more();
    });
    await endless.bridge.take(poll());
    t.equal(endless.asked.length, 1, type);
    t.match(endless.written[0]?.error?.message, /too long\. The poll may go on/);
  }
});
