import t from 'tap';
import { EloquentPoll, EloquentPollError } from '../src/eloquentpoll.ts';
import { QUESTION, RESULT, serve, withoutWaiting } from './service.ts';

const BUSY = { error: 'Too many requests', code: 'rate_limited', retryable: true };

t.test('a retryable failure is retried with the same request', async (t) => {
  const waits = withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    if (nth === 1) return void response.socket?.destroy();
    if (nth === 3) return RESULT;
    response.writeHead(503, { 'retry-after': '7', 'content-type': 'application/json' });
    return { error: 'Away', code: 'service_unavailable' };
  });
  t.same(await new EloquentPoll({ baseUrl: url, apiKey: 'ep_k_x' }).ask(QUESTION), RESULT);
  t.equal(asked.length, 3);
  const keys = asked.map(({ headers }) => headers['idempotency-key']);
  t.match(keys[0], /^[0-9a-f]{32}$/);
  t.equal(new Set(keys).size, 1, 'a poll is made once');
  t.same(asked[2]?.body, QUESTION);
  t.equal(asked[2]?.headers.authorization, 'Bearer ep_k_x');
  const [first = -1, second = -1] = waits;
  t.ok(first >= 0 && first <= 500, 'jitter before the first');
  t.ok(second >= 7_000 && second <= 8_000, 'never sooner than the service says');
});

t.test('retries are bounded', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response) => {
    response.statusCode = 502;
    return { error: 'no JSON object of ours' };
  });
  await t.rejects(new EloquentPoll({ baseUrl: url }).estimate(), { code: 'http_502', status: 502, retryable: true });
  t.equal(asked.length, 3);
  await t.rejects(new EloquentPoll({ baseUrl: url, maxRetries: 0 }).estimate(), { code: 'http_502' });
  t.equal(asked.length, 4);
});

t.test('a long Retry-After is thrown as an error', async (t) => {
  const { url, asked } = await serve(t, (_asked, response) => {
    response.writeHead(429, { 'retry-after': '3600' });
    return BUSY;
  });
  const error = await new EloquentPoll({ baseUrl: url }).free('Which? [A, B]').catch((error: unknown) => error);
  t.match(error, { code: 'rate_limited', status: 429, retryAfterSeconds: 3_600 });
  t.equal(asked.length, 1);
});

t.test('Retry-After may be a date', async (t) => {
  const { url } = await serve(t, (_asked, response) => {
    response.writeHead(429, { 'retry-after': new Date(Date.now() + 120_000).toUTCString() });
    return BUSY;
  });
  const error = await new EloquentPoll({ baseUrl: url }).profiles().catch((error: unknown) => error);
  t.ok(error instanceof EloquentPollError && Math.abs((error.retryAfterSeconds ?? 0) - 120) < 10);
});

t.test('a call that is not idempotent is retried only if refused', async (t) => {
  withoutWaiting(t);
  for (const [status, times] of [
    [503, 1],
    [429, 3],
  ] as const) {
    const { url, asked } = await serve(t, (_asked, response) => {
      response.statusCode = status;
      return { ...BUSY };
    });
    await t.rejects(new EloquentPoll({ baseUrl: url }).createKey('laptop'), { code: 'rate_limited' });
    t.equal(asked.length, times, `${status}`);
  }
});

t.test('an error has the session of a poll that was made and whose end is not known', async (t) => {
  const body = { ...BUSY, code: 'service_unavailable', session_id: 'ps_1' };
  const { url } = await serve(t, (_asked, response) => {
    response.statusCode = 503;
    return body;
  });
  const once = new EloquentPoll({ baseUrl: url, maxRetries: 0 });
  await t.rejects(once.ask(QUESTION), { code: 'service_unavailable', retryable: true, sessionId: 'ps_1' });
  Object.assign(body, { session_id: 1 });
  t.match(await once.ask(QUESTION).catch((error: unknown) => error), { sessionId: null }, 'of another type');
});

t.test('an error has the key that its poll was sent with, and the same call with it joins the first one', async (t) => {
  withoutWaiting(t);
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    if (nth > 3) return RESULT;
    return void response.socket?.destroy();
  });
  const polls = new EloquentPoll({ baseUrl: url });
  const error = await polls.ask(QUESTION).catch((error: unknown) => error);
  t.ok(error instanceof EloquentPollError && error.code === 'network_error');
  const { idempotencyKey } = error as EloquentPollError;
  t.match(idempotencyKey, /^[0-9a-f]{32}$/);
  await polls.ask(QUESTION, { ...(idempotencyKey !== null && { idempotencyKey }) });
  t.equal(new Set(asked.map(({ headers }) => headers['idempotency-key'])).size, 1);
  const refused = await polls.ask(QUESTION, { idempotencyKey: 'own', timeoutMs: -1 }).catch((error: unknown) => error);
  t.match(refused, { code: 'timeout', idempotencyKey: 'own' });
  const reason = new EloquentPollError('enough', { code: 'mine' });
  await polls.ask(QUESTION, { signal: AbortSignal.abort(reason) }).catch(() => {});
  t.equal(reason.idempotencyKey, null, 'what a caller aborts with stays as it is');
});

t.test('an error that is not retryable is thrown at once with its recovery', async (t) => {
  const { url, asked } = await serve(t, (_asked, response) => {
    response.writeHead(402, { 'content-type': 'application/problem+json' });
    return {
      title: 'Insufficient balance',
      detail: 'This poll may cost up to 1.00 USD.',
      code: 'insufficient_balance',
      request_id: 'r1',
      retryable: false,
      recovery: [{ action: 'add_funds', description: 'Buy credit.', method: 'POST', url: `https://x/api/deposit` }],
      errors: [{ pointer: '#/max_cost_usd', detail: 'too much' }],
    };
  });
  const error = await new EloquentPoll({ baseUrl: url }).ask(QUESTION).catch((error: unknown) => error);
  t.ok(error instanceof EloquentPollError);
  t.match(error, {
    message: 'This poll may cost up to 1.00 USD.',
    code: 'insufficient_balance',
    status: 402,
    retryable: false,
    requestId: 'r1',
    recovery: [{ action: 'add_funds' }],
    issues: [{ pointer: '#/max_cost_usd' }],
  });
  t.equal(asked.length, 1);
  t.match(asked[0]?.headers.accept, 'application/problem+json');
});

t.test('every call settles within its timeout or with its signal', async (t) => {
  const { url } = await serve(t, () => undefined);
  const polls = new EloquentPoll({ baseUrl: url });
  await t.rejects(polls.ask(QUESTION, { timeoutMs: 20 }), { code: 'timeout', status: null }, 'when its time is over');

  const already = AbortSignal.abort(new Error('never mind'));
  await t.rejects(polls.ask(QUESTION, { signal: already }), { message: 'never mind' }, 'before it began');

  const enough = new AbortController();
  const asking = polls.ask(QUESTION, { signal: enough.signal });
  enough.abort(new Error('enough'));
  await t.rejects(asking, { message: 'enough' }, 'when its caller has had enough');
});

t.test('an abort during the backoff rejects at once', async (t) => {
  const enough = new AbortController();
  const { url } = await serve(t, (_asked, response) => {
    response.writeHead(429, { 'retry-after': '25' });
    response.once('close', () => enough.abort(new Error('enough')));
    return BUSY;
  });
  await t.rejects(new EloquentPoll({ baseUrl: url }).profiles({ signal: enough.signal }), { message: 'enough' });
});

t.test('an unreachable service is network_error, and another server is bad_response', async (t) => {
  withoutWaiting(t);
  await t.rejects(new EloquentPoll({ baseUrl: 'http://127.0.0.1:9' }).profiles(), { code: 'network_error' });
  const { url } = await serve(t, (_asked, response) => void response.end('<html>'));
  await t.rejects(new EloquentPoll({ baseUrl: url }).profiles(), { code: 'bad_response', status: 200 });
  t.throws(() => new EloquentPoll({ baseUrl: 'polls.example' }), 'no address');
});
