import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { type MemoizeOptions, memoize } from '../../src/http/cache.ts';

// One load for all callers, a bound in entries and bytes, no failures, nothing too old.

function cache(more: Partial<MemoizeOptions<string>> = {}) {
  const loaded: string[] = [];
  const clock = { now: 1_000_000 };
  const get = memoize<string>({
    load: async (key) => {
      loaded.push(key);
      return () => `${key} ${loaded.length}`;
    },
    freshMs: 100,
    staleMs: 1_000,
    now: () => clock.now,
    ...more,
  });
  return { loaded, clock, get, textOf: async (key: string) => (await get(key)).value };
}

t.test('a fresh entry is not loaded again, an expired one is', async (t) => {
  const { clock, get, textOf, loaded } = cache();
  t.same(await get('a'), { ...(await get('a')), value: 'a 1', loadedAt: 1_000_000, expiresAt: 1_000_100 });
  clock.now += 99;
  t.equal(await textOf('a'), 'a 1');
  clock.now += 1;
  t.equal(await textOf('a'), 'a 2');
  t.same(loaded, ['a', 'a']);
});

t.test('the least recently used entry is evicted first, by number and by size', async (t) => {
  const { textOf, loaded } = cache({ maxEntries: 3 });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b']) await textOf(key);
  t.same(loaded, ['a', 'b', 'c', 'd', 'b']);
  const heavy = cache({ maxBytes: 10, sizeOf: () => 4 });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await heavy.textOf(key);
  t.same(heavy.loaded, ['a', 'b', 'c', 'b']);
  const huge = cache({ maxBytes: 10, sizeOf: () => 11 });
  for (const key of ['a', 'a']) await huge.textOf(key);
  t.same(huge.loaded, ['a', 'a'], 'an entry above the byte limit is not cached');
});

t.test('a failed load rejects for all callers that wait and is not cached', async (t) => {
  let fails = true;
  let loads = 0;
  const { textOf } = cache({
    load: async () => {
      loads++;
      if (fails) throw new Error('not today');
      return () => 'good';
    },
  });
  const all = await Promise.allSettled([textOf('a'), textOf('a'), textOf('a')]);
  t.same(
    all.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.equal(loads, 1);
  fails = false;
  t.equal(await textOf('a'), 'good');
});

t.test('a slow reload gives the stale entry after the timeout, and the new one once it is done', async (t) => {
  const gate = Promise.withResolvers<void>();
  let loads = 0;
  const { clock, textOf } = cache({
    load: async () => {
      if (++loads > 1) await gate.promise;
      return () => `${loads}`;
    },
    reloadTimeoutMs: 1,
  });
  t.equal(await textOf('a'), '1');
  clock.now += 100;
  t.equal(await textOf('a'), '1');
  gate.resolve();
  await eventually('the new value is served', async () => (await textOf('a')) === '2');
  t.equal(loads, 2);
});

t.test('above the limit of concurrent loads: the stale entry, or 503 without one', async (t) => {
  const gate = Promise.withResolvers<void>();
  let held = false;
  const { clock, textOf } = cache({
    load: async (key) => {
      if (held) await gate.promise;
      return () => key;
    },
    maxConcurrentLoads: 2,
  });
  await textOf('old');
  clock.now += 100;
  held = true;
  const [a, b] = [textOf('a'), textOf('b')];
  await t.rejects(textOf('c'), { code: 'service_unavailable' });
  t.equal(await textOf('old'), 'old');
  gate.resolve();
  t.same(await Promise.all([a, b]), ['a', 'b']);
  t.equal(await textOf('c'), 'c');
});
