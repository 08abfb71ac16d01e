import t from 'tap';
import { sleepUnlessAborted } from '../src/fixture/sleep-unless-aborted.ts';

const LONG_MS = 600_000;

t.test('a pause ends when its signal is aborted, and at once when it was aborted before', async (t) => {
  const over = new AbortController();
  const pause = sleepUnlessAborted(LONG_MS, over.signal);
  over.abort();
  await pause;
  await sleepUnlessAborted(LONG_MS, over.signal);
  t.pass('without an error');
});

t.test('a pause that is not aborted takes its time', async (t) => {
  const began = performance.now();
  await sleepUnlessAborted(30, new AbortController().signal);
  t.ok(performance.now() - began >= 28);
});
