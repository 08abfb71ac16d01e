import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import t from 'tap';
import { EloquentPoll, type StreamEvent } from '../src/eloquentpoll.ts';
import { complete, QUESTION, RESULT, serve, sse, started, withoutWaiting } from './service.ts';

const open = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });

function refuse(response: ServerResponse) {
  response.statusCode = 503;
  return { error: 'Restarting', code: 'service_unavailable', retryable: true };
}

async function all(events: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  const list: StreamEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

t.test('stream() yields each event of a poll', async (t) => {
  const { url, asked } = await serve(t, (_asked, response) => {
    open(response).write(': heartbeat\n\n');
    response.write(sse('started', started(0)));
    response.write(sse('later-kind', { seq: 1 }));
    response.end(sse('started', started(2)) + complete(3));
  });
  const events = await all(new EloquentPoll({ baseUrl: url, apiKey: 'k' }).stream(QUESTION));
  t.same(
    events.map(({ event, id }) => [event, id]),
    [
      ['started', 'ps_1:0'],
      ['started', 'ps_1:2'],
      ['complete', 'ps_1:3'],
    ],
  );
  t.match(events.at(-1)?.data, RESULT);
  t.match(asked[0]?.headers, { accept: /text\/event-stream/, 'idempotency-key': /^[0-9a-f]{32}$/ });
  t.equal(asked[0]?.headers['last-event-id'], undefined);
});

t.test('a broken stream is resumed without repeating events', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    if (nth === 1) return void response.socket?.destroy();
    if (nth === 4) return refuse(response);
    open(response);
    if (nth === 2) response.end(`retry: 3000\n${sse('started', started(0))}${sse('started', started(1)).slice(0, -2)}`);
    if (nth === 3) response.write(sse('started', started(1)), () => response.socket?.destroy());
    if (nth === 5) response.end(sse('started', started(1)) + sse('started', started(4)) + complete(4));
    return undefined;
  });
  const events = await all(new EloquentPoll({ baseUrl: url }).stream(QUESTION));
  t.same(
    events.map(({ data }) => data.seq),
    [0, 1, 4, 4],
  );
  t.same(
    asked.map(({ headers }) => headers['last-event-id']),
    [undefined, undefined, 'ps_1:0', 'ps_1:1', 'ps_1:1'],
  );
  t.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
});

t.test('a stream that keeps breaking is given up', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response) => void open(response).end(sse('started', started(0))));
  await t.rejects(all(new EloquentPoll({ baseUrl: url }).stream(QUESTION)), {
    code: 'network_error',
    sessionId: 'ps_1',
    idempotencyKey: /^[0-9a-f]{32}$/,
  });
  t.equal(asked.length, 3);
});

t.test('an error event is thrown and not retried', async (t) => {
  const error = { seq: 1, session_id: 'ps_1', error: 'It failed', code: 'poll_execution_failed', retryable: true };
  const { url, asked } = await serve(t, (_asked, response) => {
    open(response).end(sse('started', started(0)) + sse('error', error));
  });
  const seen: string[] = [];
  const follow = async () => {
    for await (const { event } of new EloquentPoll({ baseUrl: url }).stream(QUESTION)) seen.push(event);
  };
  await t.rejects(follow(), { message: 'It failed', code: 'poll_execution_failed', retryable: true });
  t.same(seen, ['started']);
  t.equal(asked.length, 1);
});

t.test('a refusal before the first event is thrown', async (t) => {
  const { url, asked } = await serve(t, (_asked, response) => {
    response.statusCode = 402;
    return { error: 'Insufficient balance', code: 'insufficient_balance' };
  });
  await t.rejects(all(new EloquentPoll({ baseUrl: url }).stream(QUESTION)), { code: 'insufficient_balance' });
  t.equal(asked.length, 1);
});

t.test('an answer that is not an event stream is bad_response', async (t) => {
  const { url } = await serve(t, () => RESULT);
  await t.rejects(all(new EloquentPoll({ baseUrl: url }).stream(QUESTION)), { code: 'bad_response' });
  const other = await serve(t, (_asked, response) => void open(response).end('event: started\ndata: {\n\n'));
  await t.rejects(all(new EloquentPoll({ baseUrl: other.url }).stream(QUESTION)), { code: 'bad_response' });
});

t.test('leaving the loop closes the connection', async (t) => {
  const gone: Promise<unknown>[] = [];
  const { url } = await serve(t, (_asked, response) => {
    gone.push(once(response, 'close'));
    open(response).write(sse('started', started(0)));
  });
  const polls = new EloquentPoll({ baseUrl: url });
  for await (const { event } of polls.stream(QUESTION)) {
    t.equal(event, 'started');
    break;
  }
  await gone[0];

  const enough = new AbortController();
  const follow = async () => {
    for await (const _ of polls.stream(QUESTION, { signal: enough.signal })) enough.abort(new Error('enough'));
  };
  await t.rejects(follow(), { message: 'enough' });
  await gone[1];

  await t.rejects(all(polls.stream(QUESTION, { timeoutMs: 50 })), { code: 'timeout' }, 'or whose time is over');
});

t.test('a silent stream is closed and resumed', async (t) => {
  withoutWaiting(t);
  withoutWaiting(t, (ms) => ms === 45_000, 1_000);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    open(response).write(nth === 1 ? sse('started', started(0)) : complete(1));
  });
  const events = await all(new EloquentPoll({ baseUrl: url }).stream(QUESTION));
  t.equal(events.at(-1)?.event, 'complete');
  t.ok(asked.length >= 2);
});
