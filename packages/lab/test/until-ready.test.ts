import t from 'tap';
import type { Slot } from '../src/faults/fleet.ts';
import { untilReady } from '../src/faults/until-ready.ts';

// A campaign whose processes do not start says so, instead of waiting for ever.

type Named = Pick<Slot, 'name' | 'app'>;
const READY: Slot['app'] = {
  name: 'gateway',
  pid: 1,
  exited: new Promise(() => {}),
  ended: new Promise(() => {}),
  hasEnded: false,
  lastLines: [],
  signal: () => {},
  ready: {},
};
const LONG_MS = 600_000;

t.test('slots that are filled while one waits are enough', async (t) => {
  const slots: Named[] = ['g1', 'w1'].map((name) => ({ name, app: null }));
  const ready = untilReady(slots, new Map(), LONG_MS);
  for (const slot of slots) slot.app = READY;
  await ready;
  await t.resolves(untilReady([], new Map(), 0));
});

t.test('what does not start is named, with the reason of its last failure', async (t) => {
  const slots: Named[] = [
    { name: 'g1', app: READY },
    { name: 'w1', app: null },
    { name: 'w2', app: null },
  ];
  await t.rejects(untilReady(slots, new Map([['w1', 'Error: KEY_PEPPER is missing']]), 100), {
    message: 'not ready after 0.1 s: w1 (Error: KEY_PEPPER is missing), w2 (no start has failed)',
  });
});

t.test('the end of the campaign ends the wait', async (t) => {
  const over = new AbortController();
  const ready = untilReady([{ name: 'g1', app: null }], new Map(), LONG_MS, over.signal);
  over.abort();
  await t.rejects(ready, { name: 'AbortError' });
});
