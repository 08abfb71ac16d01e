import t from 'tap';
import { TimeoutError, withTimeout } from '../src/with-timeout.ts';

const never = new Promise<never>(() => {});

t.test('work that settles in time is passed on, and leaves neither timer nor listener behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const { signal } = new AbortController();
  t.equal(await withTimeout(Promise.resolve(1), 60_000, signal), 1);
  t.equal(await withTimeout(2, 60_000), 2);
  await t.rejects(withTimeout(Promise.reject(new Error('broken')), 60_000), { message: 'broken' });
  t.equal(timers(), before);
});

t.test('work that does not settle ends in a TimeoutError', async (t) => {
  const error: unknown = await withTimeout(never, 5).catch((reason: unknown) => reason);
  t.ok(error instanceof TimeoutError);
  t.match(error, { message: 'no answer within 5 ms' });
});

t.test('a signal ends the wait with its reason, also when it had aborted before', async (t) => {
  const stop = new AbortController();
  const waiting = withTimeout(never, 60_000, stop.signal);
  stop.abort(new Error('leaving'));
  await t.rejects(waiting, { message: 'leaving' });
  await t.rejects(withTimeout(never, 60_000, stop.signal), { message: 'leaving' });
});

t.test('a failure that comes too late is no unhandled rejection', async (t) => {
  const late = Promise.withResolvers<void>();
  await t.rejects(withTimeout(late.promise, 1), { name: 'TimeoutError' });
  late.reject(new Error('late'));
  await new Promise((resolve) => setImmediate(resolve));
  t.pass('no unhandled rejection ended the process');
});
