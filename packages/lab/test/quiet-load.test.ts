import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { recorder } from '../src/faults/operations.ts';
import { startQuietLoad } from '../src/faults/quiet-load.ts';

// slow: 7 s

/** Answers nothing before `answer` is called. */
async function heldGateway() {
  const asked: unknown[] = [];
  const held: ServerResponse[] = [];
  let isOpen = false;
  const server = createServer((request, response) => {
    void json(request).then((what) => {
      asked.push({ who: request.headers.authorization, what });
      if (isOpen) response.end('{}');
      else held.push(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    asked,
    gateway: { name: 'g1', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    answer() {
      isOpen = true;
      for (const response of held) response.end('{}');
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

const ACCOUNTS = ['a', 'b'].map((key) => ({ id: key, key, cookie: '' }));
/** An account asks about once a second. */
const MIN_PAUSE_MS = 700;

/** What each of the accounts asked at first, while nothing was answered. */
async function firstAsked(seed: string) {
  using held = await heldGateway();
  const { signal: quit } = new AbortController();
  const kept = recorder(null);
  const options = { recorder: kept, gateways: [held.gateway], accounts: ACCOUNTS, quit, herd: 0, promised: null };
  const load = startQuietLoad(options, seed);
  const began = performance.now();
  const of = (key: string) => held.asked.filter((one) => JSON.stringify(one).includes(`Bearer ${key}`));
  await eventually('each account has asked twice', () => ACCOUNTS.every(({ key }) => of(key).length >= 2));
  const most = 1 + (performance.now() - began) / MIN_PAUSE_MS;
  const unanswered = ACCOUNTS.map(({ key }) => of(key));
  const finished = load.finish();
  held.answer();
  await finished;
  return {
    unanswered,
    most,
    outcomes: new Set(kept.operations.map(({ outcome }) => outcome)),
  };
}

t.test('quiet accounts ask on while nothing is answered, and the same polls for the same seed', async (t) => {
  const [first, again, other] = [await firstAsked('s'), await firstAsked('s'), await firstAsked('r')];
  for (const [i, polls] of first.unanswered.entries()) {
    t.ok(polls.length <= first.most, `${polls.length} polls, of ${first.most.toFixed(1)} at most`);
    const both = Math.min(polls.length, again.unanswered[i]!.length);
    t.same(polls.slice(0, both), again.unanswered[i]!.slice(0, both));
    t.notSame(polls[0], other.unanswered[i]![0]);
  }
  t.same(first.outcomes, new Set(['ok']), 'all of them are waited for');
});
