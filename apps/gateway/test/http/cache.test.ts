import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { type Keeping, keep } from '../../src/http/cache.ts';

// What is kept: made once for all who wait, bounded, never a failure, and never too old.

function making(more: Partial<Keeping<string>> = {}) {
  const made: string[] = [];
  const clock = { now: 1_000_000 };
  const get = keep<string>({
    make: async (key) => {
      made.push(key);
      return () => `${key} ${made.length}`;
    },
    freshMs: 100,
    staleMs: 1_000,
    now: () => clock.now,
    ...more,
  });
  return { made, clock, get, textOf: async (key: string) => (await get(key)).value };
}

t.test('what is fresh is not made again, what is old is', async (t) => {
  const { clock, get, textOf, made } = making();
  t.same(await get('a'), { ...(await get('a')), value: 'a 1', madeAt: 1_000_000, expiresAt: 1_000_100 });
  clock.now += 99;
  t.equal(await textOf('a'), 'a 1');
  clock.now += 1;
  t.equal(await textOf('a'), 'a 2');
  t.same(made, ['a', 'a']);
});

t.test('the least recently asked for goes first, by number and by size', async (t) => {
  const { textOf, made } = making({ mostEntries: 3 });
  for (const key of ['a', 'b', 'c', 'a', 'd', 'a', 'c', 'b']) await textOf(key);
  t.same(made, ['a', 'b', 'c', 'd', 'b']);
  const heavy = making({ mostBytes: 10, sizeOf: () => 4 });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await heavy.textOf(key);
  t.same(heavy.made, ['a', 'b', 'c', 'b']);
  const huge = making({ mostBytes: 10, sizeOf: () => 11 });
  for (const key of ['a', 'a']) await huge.textOf(key);
  t.same(huge.made, ['a', 'a'], 'what is too big for all is not kept');
});

t.test('a failure goes to all who wait for it and is forgotten', async (t) => {
  let fails = true;
  let made = 0;
  const { textOf } = making({
    make: async () => {
      made++;
      if (fails) throw new Error('not today');
      return () => 'good';
    },
  });
  const all = await Promise.allSettled([textOf('a'), textOf('a'), textOf('a')]);
  t.same(
    all.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  t.equal(made, 1);
  fails = false;
  t.equal(await textOf('a'), 'good');
});

t.test('the old one serves who has waited long enough; the new one is there when it is done', async (t) => {
  const gate = Promise.withResolvers<void>();
  let made = 0;
  const { clock, textOf } = making({
    make: async () => {
      if (++made > 1) await gate.promise;
      return () => `${made}`;
    },
    patienceMs: 1,
  });
  t.equal(await textOf('a'), '1');
  clock.now += 100;
  t.equal(await textOf('a'), '1');
  gate.resolve();
  await eventually('the new value is served', async () => (await textOf('a')) === '2');
  t.equal(made, 2);
});

t.test('so many are made at once and no more; who has an old one gets that', async (t) => {
  const gate = Promise.withResolvers<void>();
  let held = false;
  const { clock, textOf } = making({
    make: async (key) => {
      if (held) await gate.promise;
      return () => key;
    },
    mostMaking: 2,
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
