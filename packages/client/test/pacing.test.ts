import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { EloquentPoll } from '../src/eloquentpoll.ts';
import { serve } from './service.ts';

// slow: 12 s
// How calls wait for the budgets of a service, whatever it says about them.

const PROFILES = { default: 'balanced', count: 0, profiles: [] };

/** A service that allows so many calls in a window, which it says is two seconds long, and refuses the others. */
async function limited(t: Test, limit: number, windowMs: number) {
  let window = { endsAt: 0, calls: 0 };
  const refused: string[] = [];
  const windows = { opened: 0 };
  const { url, asked } = await serve(t, ({ path }, response) => {
    const now = performance.now();
    if (now >= window.endsAt) {
      window = { endsAt: now + windowMs, calls: 0 };
      windows.opened++;
    }
    window.calls++;
    response.setHeader('ratelimit-limit', limit);
    response.setHeader('ratelimit-remaining', Math.max(0, limit - window.calls));
    response.setHeader('ratelimit-reset', 2);
    response.setHeader('ratelimit-policy', `${limit};w=2, 100000;w=86400`);
    if (window.calls <= limit) return PROFILES;
    refused.push(path);
    response.setHeader('retry-after', 1);
    response.statusCode = 429;
    return { error: 'Too many calls', code: 'rate_limited', retryable: true };
  });
  return { url, asked, refused, windows };
}

const many = <T>(times: number, call: () => Promise<T>) => Promise.all(Array.from({ length: times }, call));

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

t.test('calls side by side stay within the budget, and none is refused', async (t) => {
  // Services say how long it is in whole seconds, and round up; a window begins in them a moment after it does here.
  const { url, asked, refused, windows } = await limited(t, 5, 1_000);
  const polls = new EloquentPoll({ baseUrl: url });
  await polls.profiles();
  await many(14, () => polls.profiles());
  t.same(refused, []);
  t.equal(asked.length, 15);
  // A machine that stands still for a second makes one window of five two.
  t.ok(windows.opened >= 3 && windows.opened <= 5, `fifteen calls in ${windows.opened} windows`);
});

t.test('pace: false sends at once, and the service refuses', async (t) => {
  const { url, refused } = await limited(t, 5, Infinity);
  const polls = new EloquentPoll({ baseUrl: url, pace: false, maxRetries: 0 });
  await Promise.allSettled(Array.from({ length: 12 }, () => polls.profiles()));
  t.equal(refused.length, 7);
});

t.test('before the budget is known only a few calls are on their way', async (t) => {
  const held: ServerResponse[] = [];
  let isOpen = false;
  const { url, asked } = await serve(t, (_asked, response) => (isOpen ? PROFILES : void held.push(response)));
  const polls = new EloquentPoll({ baseUrl: url });
  const calls = many(30, () => polls.profiles());
  while (held.length < 8) await new Promise((done) => setTimeout(done, 10));
  await polls.result('EP-1', { timeoutMs: 30 }).catch(() => {});
  t.equal(asked.filter(({ path }) => path === '/api/profiles').length, 8);
  isOpen = true;
  for (const response of held) response.setHeader('content-type', 'application/json').end(JSON.stringify(PROFILES));
  await calls;
  t.equal(asked.filter(({ path }) => path === '/api/profiles').length, 30, 'without a budget there is no limit');
});

t.test('a refusal holds back the calls that have not begun', async (t) => {
  const at: number[] = [];
  const { url } = await serve(t, (_asked, response, nth) => {
    at.push(performance.now());
    if (nth > 1) return PROFILES;
    response.writeHead(429, { 'retry-after': '1', 'content-type': 'application/json' });
    return { error: 'Too many calls', code: 'rate_limited', retryable: true };
  });
  const answered = Promise.withResolvers<void>();
  const polls = new EloquentPoll({
    baseUrl: url,
    async fetch(address, init) {
      // A first connection takes a while, and the refusal is as much later than the call.
      if (at.length === 0) await wait(500);
      return fetch(address, init).finally(answered.resolve);
    },
  });
  const first = polls.profiles();
  await answered.promise;
  // The client has its answer once all that waited for it has run.
  await new Promise(setImmediate);
  await Promise.all([first, polls.profiles(), polls.profiles()]);
  t.ok(Math.min(...at.slice(1)) - at[0]! >= 1_000, 'not sooner than Retry-After, whichever call it was said to');
});

t.test('an answer that comes after a refusal of its window does not shorten the wait', async (t) => {
  const at: number[] = [];
  const late: ServerResponse[] = [];
  const { url } = await serve(t, (_asked, response, nth) => {
    at.push(performance.now());
    const isRefused = nth === 2;
    response.writeHead(isRefused ? 429 : 200, {
      'content-type': 'application/json',
      ...(isRefused ? { 'retry-after': '2' } : { 'ratelimit-remaining': '0', 'ratelimit-reset': '1' }),
    });
    if (nth === 1) return void late.push(response);
    return isRefused ? { error: 'Too many calls', code: 'rate_limited', retryable: true } : PROFILES;
  });
  let heard = 0;
  const refused = Promise.withResolvers<number>();
  const polls = new EloquentPoll({
    baseUrl: url,
    maxRetries: 0,
    async fetch(address, init) {
      const response = await fetch(address, init);
      heard++;
      if (response.status === 429) refused.resolve(performance.now());
      return response;
    },
  });
  const slow = polls.profiles();
  const first = polls.profiles().catch(() => {});
  const since = await refused.promise;
  await first;
  for (const response of late) response.end(JSON.stringify(PROFILES));
  await slow;
  await polls.profiles();
  t.equal(heard, 3);
  t.ok(at[2]! - since >= 1_900, `the third call came ${at[2]! - since} ms after the refusal`);
});

t.test('what a service says wrongly does not hold calls up', async (t) => {
  for (const [remaining, reset] of [
    ['0', '999999999'],
    ['0', '-1'],
    ['-5', '60'],
    ['0', 'soon'],
    ['none', '60'],
    ['0', ''],
    ['1e9', '60'],
    ['0', '0'],
    ['0', '99999999999999999999'],
  ] as const) {
    const { url, asked } = await serve(t, (_asked, response) => {
      response.setHeader('ratelimit-limit', '0');
      response.setHeader('ratelimit-policy', '0;w=0, ;w=, x');
      response.setHeader('ratelimit-remaining', remaining);
      response.setHeader('ratelimit-reset', reset);
      return PROFILES;
    });
    const polls = new EloquentPoll({ baseUrl: url });
    const took = await msOf(async () => {
      await polls.profiles();
      await many(5, () => polls.profiles());
    });
    t.equal(asked.length, 6);
    t.ok(took < 10_000, `remaining ${remaining}, reset ${reset}: ${took} ms`);
  }
});

t.test(
  'a wait ends with its signal, is not begun without the time for it, and ignores the clock on the wall',
  async (t) => {
    const usedUpFor = (seconds: number) =>
      serve(t, (_asked, response) => {
        response.setHeader('ratelimit-remaining', 0);
        response.setHeader('ratelimit-reset', seconds);
        return PROFILES;
      });
    const { url, asked } = await usedUpFor(60);
    const polls = new EloquentPoll({ baseUrl: url });
    await polls.profiles();
    const enough = new AbortController();
    const waiting = polls.profiles({ signal: enough.signal });
    setTimeout(() => enough.abort(new Error('enough')), 20);
    await t.rejects(waiting, { message: 'enough' });
    t.equal(asked.length, 1, 'it was never sent');

    const took = await msOf(() => polls.profiles({ timeoutMs: 30_000 }));
    t.equal(asked.length, 2);
    t.ok(took < 30_000, `sent at once, for it could not have waited: ${took} ms`);

    const again = new EloquentPoll({ baseUrl: (await usedUpFor(2)).url });
    const began = performance.now();
    await again.profiles();

    const real = Date.now;
    t.teardown(() => {
      Date.now = real;
    });
    Date.now = () => real() + 86_400_000;
    await again.profiles();
    t.ok(performance.now() - began >= 2_000);
  },
);
