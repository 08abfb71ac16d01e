import type { ServerResponse } from 'node:http';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { EloquentPoll, type Progress } from '../src/eloquentpoll.ts';
import { complete, QUESTION, RESULT, serve, sse, started, withoutWaiting } from './service.ts';

const running = (received: number) => ({
  session_id: 'ps_1',
  status: 'running',
  result_id: null,
  progress: { received, succeeded: received, failed: 0, total: 6 },
});
const COMPLETED = { session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id };

t.test('result() waits for the end in one request', async (t) => {
  const { url, asked } = await serve(t, ({ method, path }, response) => {
    if (method === 'POST') response.statusCode = 202;
    if (path.endsWith('/result')) return RESULT;
    return path.endsWith('/status') ? COMPLETED : { ...running(0), status_url: '', result_url: '' };
  });
  const session = await new EloquentPoll({ baseUrl: url }).begin(QUESTION);
  t.equal(session.id, 'ps_1');
  t.same(await session.wait(), RESULT);
  t.same(
    asked.map(({ path }) => path),
    ['/api/polls', '/api/polls/ps_1/status', '/api/polls/ps_1/result'],
  );
  t.equal(asked[1]?.headers.prefer, 'wait=25');
});

t.test('a timeout that is longer than timers can be, or that never comes, does not end a call', async (t) => {
  const MAX_TIMER_MS = 2 ** 31 - 1;
  const waits = withoutWaiting(t, (ms) => ms === MAX_TIMER_MS);
  const ended = Promise.withResolvers<void>();
  const { url } = await serve(t, async ({ path }) => {
    if (path.endsWith('/result')) return RESULT;
    await ended.promise;
    return COMPLETED;
  });
  const session = new EloquentPoll({ baseUrl: url }).session('ps_1');
  const long = session.wait({ timeoutMs: 2 ** 32 });
  await Promise.race([long, eventually('its timer is set again', () => waits.length > 2)]);
  ended.resolve();
  t.same(await long, RESULT);
  const set = waits.length;
  t.same(await session.wait({ timeoutMs: Number.POSITIVE_INFINITY }), RESULT);
  t.equal(waits.length, set, 'no timer for a time that never comes');
});

t.test('a poll that may be of flex is waited for and followed as long as one can take', async (t) => {
  // Whatever has the time of a standard poll is over at once.
  withoutWaiting(t, (ms) => ms === 150_000);
  const { url } = await serve(t, ({ path }, response) => {
    if (path === '/api/polls') return running(0);
    if (path.endsWith('/result')) return RESULT;
    if (path.endsWith('/status')) return COMPLETED;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(sse('started', started(0)) + complete(1));
  });
  const polls = new EloquentPoll({ baseUrl: url });
  for (const session of [polls.session('ps_1'), await polls.begin({ ...QUESTION, service_tier: 'flex' })]) {
    t.same(await session.wait(), RESULT);
    const events: string[] = [];
    for await (const { event } of session.stream()) events.push(event);
    t.same(events, ['started', 'complete']);
  }
  await t.rejects((await polls.begin(QUESTION)).wait(), { code: 'timeout' }, 'a standard poll ends within minutes');
});

t.test('wait() and stream() sit out what may pass', async (t) => {
  withoutWaiting(t);
  const away = (response: ServerResponse, nth: number) => {
    if (nth % 2 === 0) return void response.socket?.destroy();
    response.statusCode = 503;
    return { error: 'Away', code: 'service_unavailable', retryable: true };
  };
  const { url } = await serve(t, (_asked, response, nth) => {
    if (nth > 1 && nth <= 8) return away(response, nth);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(nth === 1 ? sse('started', started(0)) : complete(1));
  });
  const once = new EloquentPoll({ baseUrl: url, maxRetries: 0 });
  const events: string[] = [];
  for await (const { event } of once.session('ps_1').stream()) events.push(event);
  t.same(events, ['started', 'complete']);

  const { url: other } = await serve(t, ({ path }, response, nth) => {
    if (path.endsWith('/result')) return RESULT;
    return nth > 8 ? COMPLETED : away(response, nth);
  });
  t.same(await new EloquentPoll({ baseUrl: other, maxRetries: 0 }).session('ps_1').wait(), RESULT);
});

t.test('onProgress is called once per vote', async (t) => {
  withoutWaiting(t, (ms) => ms === 1_000);
  const { url, asked } = await serve(t, ({ path, headers }, response, nth) => {
    if (path.endsWith('/result')) return RESULT;
    if (nth === 5) return COMPLETED;
    if (nth === 3) return void response.writeHead(304, { etag: headers['if-none-match'] }).end();
    response.setHeader('etag', `"${nth}"`);
    return running(nth);
  });
  const heard: number[] = [];
  const onProgress = ({ received }: Progress) => heard.push(received);
  t.same(await new EloquentPoll({ baseUrl: url }).session('ps_1').wait({ onProgress }), RESULT);
  t.same(heard, [1, 2, 4]);
  t.same(
    asked.slice(0, 5).map(({ headers }) => [headers.prefer, headers['if-none-match']]),
    [
      [undefined, undefined],
      ['wait=25', '"1"'],
      ['wait=25', '"2"'],
      ['wait=25', '"2"'],
      ['wait=25', '"4"'],
    ],
  );
});

t.test('a service that ignores Prefer: wait is polled with a pause', async (t) => {
  const waits = withoutWaiting(t, (ms) => ms === 2_000);
  const { url } = await serve(t, ({ path }, response, nth) => {
    if (path.endsWith('/result')) return RESULT;
    response.setHeader('retry-after', '2');
    return nth === 3 ? COMPLETED : running(0);
  });
  await new EloquentPoll({ baseUrl: url }).session('ps_1').wait();
  t.same(waits, [2_000, 2_000]);
});

t.test('failed, running and unknown polls resolve or reject as documented', async (t) => {
  const { url } = await serve(t, ({ path }, response) => {
    if (path.includes('ps_unknown')) {
      response.statusCode = 404;
      return { error: 'Session not found', code: 'session_not_found' };
    }
    if (path === '/api/polls/ps_runs/result') {
      response.statusCode = 202;
      return running(0);
    }
    if (path === '/api/polls/ps_runs/status') return undefined;
    if (path.endsWith('/status')) return { ...COMPLETED, status: 'failed', result_id: null };
    response.statusCode = 422;
    return { error: 'Poll failed', code: 'poll_failed', retryable: false };
  });
  const polls = new EloquentPoll({ baseUrl: url });
  await t.rejects(polls.session('ps_failed').wait(), { code: 'poll_failed', status: 422 });
  await t.rejects(polls.session('ps_unknown').wait(), { code: 'session_not_found' });
  t.equal(await polls.session('ps_runs').result(), null);
  await t.rejects(polls.session('ps_runs').wait({ timeoutMs: 30 }), { code: 'timeout' });
  await t.rejects(polls.session('ps_runs').wait({ signal: AbortSignal.abort(new Error('enough')) }), {
    message: 'enough',
  });
});
