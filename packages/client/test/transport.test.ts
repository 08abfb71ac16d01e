import t, { type Test } from 'tap';
import { type ClientErrorCode, EloquentPoll, EloquentPollError } from '../src/eloquentpoll.ts';
import { complete, QUESTION, RESULT, sse, started, withoutWaiting } from './service.ts';

// The client on a network that each test makes up.

const json = (body: unknown, init: ResponseInit = {}) =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' }, ...init });
const events = (text: string, headers: Record<string, string> = {}) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream', ...headers } });

/** Gives the answers in turn, the last one ever after, and notes the requests. */
function network(answers: readonly (() => Response | Promise<Response>)[]) {
  const sent: { url: string; init: RequestInit }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    init.signal?.throwIfAborted();
    sent.push({ url, init });
    return (answers[sent.length - 1] ?? answers.at(-1)!)();
  };
  return { fetch, sent };
}

const errorOf = (work: Promise<unknown>): Promise<EloquentPollError> =>
  work.then(
    () => Promise.reject(new Error('there was an answer')),
    (error: unknown) => (error instanceof EloquentPollError ? error : Promise.reject(error)),
  );

t.test('a key that no header can hold is refused before anything is sent, and is not shown', async (t) => {
  for (const apiKey of ['…', 'ep_k_secret\u2026', 'ep_k_secret\nX: y', 'ep_k_secret and more']) {
    const made = () => new EloquentPoll({ baseUrl: 'https://polls.example', apiKey });
    t.throws(made, { name: 'TypeError', message: 'apiKey contains characters that it cannot have.' });
  }
  const { fetch, sent } = network([() => json({})]);
  await new EloquentPoll({ baseUrl: 'https://polls.example', fetch, apiKey: ' ep_k_x\r\n' }).profiles();
  t.match(sent[0]?.init.headers, { Authorization: 'Bearer ep_k_x' }, 'the end of its line is no part of it');
  // Under `exactOptionalPropertyTypes` this compiles only if an option may be undefined.
  await new EloquentPoll({ baseUrl: 'https://polls.example', fetch, apiKey: process.env.EP_NOT_SET }).profiles();
  t.notHas(sent[1]?.init.headers, 'Authorization');
  const withPassword = () => new EloquentPoll({ baseUrl: 'https://me:secret@polls.example' });
  t.throws(withPassword, { message: 'baseUrl must not contain a user name or a password.' });
});

t.test('an address without its protocol is refused, and a query is no part of it', async (t) => {
  const without = () => new EloquentPoll({ baseUrl: 'localhost:8080' });
  t.throws(without, { name: 'TypeError', message: 'baseUrl must begin with http:// or https://.' });
  const { fetch, sent } = network([() => json({})]);
  await new EloquentPoll({ baseUrl: 'https://polls.example/eu/?view=human#x', fetch }).profiles();
  t.equal(sent[0]?.url, 'https://polls.example/eu/api/profiles');
});

t.test('what cannot be written as a request is no failure of the network', async (t) => {
  const { fetch, sent } = network([() => json(RESULT)]);
  const polls = new EloquentPoll({ baseUrl: 'https://polls.example', fetch });
  const metadata: Record<string, string> = {};
  Object.assign(metadata, { metadata });
  t.match(await errorOf(polls.ask({ ...QUESTION, metadata })), { code: 'bad_request', retryable: false });
  const named = await errorOf(polls.ask(QUESTION, { idempotencyKey: 'order …' }));
  t.match(named, { code: 'bad_request', message: 'Idempotency-Key has characters that HTTP does not allow.' });
  // JSON would have null for it, which removes the limit of the key.
  const unlimited = await errorOf(polls.changeKey('k', { limit_usd: Number('5 dollars') }));
  t.match(unlimited, { code: 'bad_request', message: 'The body cannot be written as JSON: limit_usd is NaN' });
  const endless = await errorOf(polls.batch([{ ...QUESTION, max_cost_usd: Number.POSITIVE_INFINITY }]));
  t.match(endless, { code: 'bad_request', message: /: max_cost_usd is Infinity$/ });
  t.equal(sent.length, 0);
  for (let i = 0; i < 20; i++) await errorOf(polls.ask(QUESTION, { idempotencyKey: '…' }));
  await polls.ask(QUESTION, { timeoutMs: 30_000 });
  t.equal(sent.length, 1, 'they are not counted as calls on their way');
});

t.test('a redirect is not followed, because the key would be lost and a quick poll be a free one', async (t) => {
  const { fetch, sent } = network([
    () => new Response(null, { status: 308, headers: { location: 'https://polls.example/api/poll' } }),
  ]);
  const polls = new EloquentPoll({ baseUrl: 'http://polls.example', apiKey: 'ep_k_x', fetch });
  const code: ClientErrorCode = 'http_308';
  t.match(await errorOf(polls.ask(QUESTION)), {
    message: /redirects to https:\/\/polls\.example\/api\/poll\. .* change baseUrl/,
    code,
    status: 308,
    retryable: false,
  });
  t.equal(sent.length, 1);
  t.match(await errorOf(polls.quick('Which is larger? [The Sun, The Moon]')), { code: 'http_308' });
  t.ok(sent.every(({ init }) => init.redirect === 'manual'));
  const opaque = { type: { value: 'opaqueredirect' }, status: { value: 0 }, ok: { value: false } };
  const inBrowser = network([() => Object.defineProperties(new Response(), opaque)]);
  const error = await errorOf(new EloquentPoll({ baseUrl: 'http://polls.example', fetch: inBrowser.fetch }).profiles());
  t.match(error, { message: /^The service redirects to another address\./, code: 'bad_response', status: null });
});

t.test('an unreachable service is named by the reason of the platform', async (t) => {
  withoutWaiting(t);
  const refusedAt = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  for (const [cause, reason] of [
    [new Error('self-signed certificate'), 'self-signed certificate'],
    [refusedAt, 'ECONNREFUSED'],
    [undefined, 'fetch failed'],
  ] as const) {
    const { fetch } = network([() => Promise.reject(new TypeError('fetch failed', { cause }))]);
    const error = await errorOf(new EloquentPoll({ baseUrl: 'https://polls.example', fetch }).profiles());
    t.match(error, { code: 'network_error', message: `The service cannot be reached: ${reason}` });
  }
});

t.test('a wait ends with the result although the service is away just after the end', async (t) => {
  withoutWaiting(t);
  const away = () => json({ error: 'Away', code: 'service_unavailable', retryable: true }, { status: 503 });
  const ended = () => json({ session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id });
  const { fetch } = network([ended, away, away, away, away, () => json(RESULT)]);
  const polls = new EloquentPoll({ baseUrl: 'https://polls.example', fetch, maxRetries: 0 });
  t.same(await polls.session('ps_1').wait(), RESULT);
});

/** A client whose calls have to wait for the rest of a minute. */
async function usedUp(t: Test, seconds = 60) {
  const headers = { 'ratelimit-remaining': '0', 'ratelimit-reset': String(seconds) };
  const { fetch, sent } = network([() => json({}, { headers })]);
  const polls = new EloquentPoll({ baseUrl: 'https://polls.example', fetch });
  await polls.profiles();
  const enough = new AbortController();
  const waiting = polls.profiles({ signal: enough.signal }).catch(() => {});
  t.teardown(() => {
    enough.abort();
    return waiting;
  });
  return { polls, sent };
}

t.test('a call behind others that wait for a rate limit ends by its own timeout, unsent', async (t) => {
  const { polls, sent } = await usedUp(t);
  const began = performance.now();
  const error = await errorOf(polls.profiles({ timeoutMs: 100 }));
  t.match(error, { code: 'timeout', message: 'There was no answer within 0.1 s.' });
  t.ok(performance.now() - began < 5_000, 'not by theirs');
  t.equal(sent.length, 1);
});

t.test('a stream is resumed although no further poll is allowed yet', async (t) => {
  withoutWaiting(t);
  const none = { 'ratelimit-remaining': '0', 'ratelimit-reset': '60' };
  const { fetch, sent } = network([() => events(sse('started', started(0)), none), () => events(complete(1))]);
  const seen: string[] = [];
  const stream = new EloquentPoll({ baseUrl: 'https://polls.example', fetch }).stream(QUESTION, { timeoutMs: 5_000 });
  for await (const { event } of stream) seen.push(event);
  t.same(seen, ['started', 'complete']);
  t.match(sent[1]?.init.headers, { 'Last-Event-ID': 'ps_1:0' });
});

t.test('a Retry-After of months does not become a loop without a pause', async (t) => {
  const MAX_TIMER_MS = 2 ** 31 - 1;
  const waits = withoutWaiting(t, (ms) => ms > 10 ** 9);
  const busy = { error: 'Away', code: 'service_unavailable', retryable: true };
  const { fetch } = network([
    () => json(busy, { status: 503, headers: { 'retry-after': '9999999' } }),
    () => json({ session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id }),
    () => json(RESULT),
  ]);
  const polls = new EloquentPoll({ baseUrl: 'https://polls.example', fetch });
  t.same(await polls.session('ps_1').wait({ timeoutMs: Number.POSITIVE_INFINITY }), RESULT);
  t.same(waits, [MAX_TIMER_MS], 'no timer is longer');
});

t.test('errors of other shapes keep what they say', async (t) => {
  const refused = { jsonrpc: '2.0', id: 1, error: { code: -32_601, message: 'No such tool' } };
  for (const [body, message] of [
    [refused, 'No such tool'],
    [null, 'The service answered 200.'],
  ] as const) {
    const { fetch } = network([() => json(body)]);
    const polls = new EloquentPoll({ baseUrl: 'https://polls.example', apiKey: 'ep_k_x', fetch });
    t.match(await errorOf(polls.balance()), { code: 'bad_response', message });
  }
  for (const body of [null, {}, { session_id: 1 }]) {
    const { fetch } = network([() => json(body)]);
    const polls = new EloquentPoll({ baseUrl: 'https://polls.example', fetch });
    const found = { code: 'bad_response', idempotencyKey: 'k' };
    t.match(await errorOf(polls.begin(QUESTION, { idempotencyKey: 'k' })), found);
    t.match(await errorOf(polls.ask(QUESTION, { idempotencyKey: 'k' })), found, 'no result without an outcome');
    t.match(await errorOf(polls.session('ps_1').result()), { code: 'bad_response' });
    t.match(await errorOf(polls.batch([QUESTION], {}, { idempotencyKey: 'k' })), found);
  }
  const odd = { error: 'Wrong', code: 'validation_error', errors: [null, 'x', { pointer: '#/a', detail: 'b' }] };
  const { fetch } = network([() => json(odd, { status: 400 })]);
  const error = await errorOf(new EloquentPoll({ baseUrl: 'https://polls.example', fetch }).profiles());
  t.same(error.issues, [{ pointer: '#/a', detail: 'b' }]);
});
