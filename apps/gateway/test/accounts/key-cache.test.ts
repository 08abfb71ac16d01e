import { mock } from 'node:test';
import type { RedisClient } from '@eloquentpoll/bus';
import { openBus } from '@eloquentpoll/bus';
import { createAccount, insertKey, openStorage, revokeKey } from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { closeEverywhere } from '../../src/accounts/close-everywhere.ts';
import type { AccountsContext } from '../../src/accounts/context.ts';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { nameOfHash } from '../../src/accounts/keys/hashed-key.ts';
import { type KeyCacheOptions, keyCache } from '../../src/accounts/keys/key-cache.ts';
import { revokeEverything } from '../../src/accounts/keys/revoke-everything.ts';
import { revokeKeyEverywhere } from '../../src/accounts/keys/revoke-key.ts';
import { PEPPER } from '../fixtures/build.ts';

// slow: 3 s

async function open(t: Test) {
  const { url, prefix } = testRedis(t);
  const databaseUrl = await testDatabase(t);
  const storage = openStorage({ databaseUrl, maxConnections: 2, connectTimeoutMs: 30_000 });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const bus = await openBus({ redisUrl: url, prefix, commandTimeoutMs: 5_000 });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const used: string[] = [];
  const onUse = (keyId: string) => void used.push(keyId);
  const openCache = (more: Partial<KeyCacheOptions> = {}) =>
    keyCache({ redis: bus.redis, prefix, storage, pepper: PEPPER, onUse, ...more });
  const cache = openCache();
  const accountId = await createAccount(storage);
  const key = newApiKey();
  const hash = hashApiKey(PEPPER, key);
  const { id: keyId } = await insertKey(storage, { accountId, hash, prefix: apiKeyPrefix(key) });
  const place = `${prefix}:key:{${nameOfHash(hash)}}`;
  const expireIn = (interval: string) =>
    asOwner(databaseUrl, `update api_keys set expires_at = clock_timestamp() + interval '${interval}'`);
  const move = () =>
    asOwner(
      databaseUrl,
      `insert into account_moves (id, account_id, direction, kind, from_cell, to_cell, state)
       values (gen_random_uuid(), '${accountId}', 'out', 'account', '0', '1', 'copying')`,
    );
  return {
    storage,
    expireIn,
    move,
    redis: bus.redis,
    prefix,
    cache,
    openCache,
    used,
    hash,
    place,
    owner: { accountId, keyId, isFrozen: false, isReadOnly: false, isRestricted: false },
  };
}

const remembered = (redis: RedisClient, place: string): Promise<string> =>
  eventually('the key is cached', () => redis.get(place));

t.test('a key that was found is cached for ten seconds, and onUse is called each time', async (t) => {
  const { storage, redis, cache, used, hash, place, owner } = await open(t);
  t.match(await cache.find(hash), owner);
  t.match(await remembered(redis, place), new RegExp(`^${owner.accountId} ${owner.keyId} \\d{13} of [\\w-]{43}$`));
  const ttl = await redis.pttl(place);
  t.ok(ttl > 0 && ttl <= 10_000, `for ${ttl} ms`);
  await revokeKey(storage, owner.accountId, owner.keyId);
  t.match(await cache.find(hash), owner, 'served from cache');
  t.same(used, [owner.keyId, owner.keyId]);
  await redis.del(place);
  t.equal(await cache.find(hash), null);
  t.equal(used.length, 2, 'a miss is not a use');
});

t.test('a key that expires soon is cached until then, and one whose account is about to move is not', async (t) => {
  const { redis, openCache, hash, place, owner, used, expireIn, move } = await open(t);
  // The clock stands, an hour ahead: what is cached stays in Redis for as long as the test needs.
  const now = Date.now() + 3_600_000;
  const cache = openCache({ now: () => now });
  const endOf = (entry: string) => Number(entry.split(' ')[2]) - now;
  await cache.find(hash);
  t.equal(endOf(await remembered(redis, place)), 10_000);
  await eventually('it is found before its end', async () => {
    await expireIn('9 seconds');
    await redis.del(place);
    return cache.find(hash);
  });
  const end = endOf(await remembered(redis, place));
  t.ok(end > 0 && end <= 9_000, `for ${end} ms`);

  await expireIn('1 hour');
  await redis.del(place);
  await move();
  used.length = 0;
  const asked: string[] = [];
  t.match(await cache.find(hash, (ask) => (asked.push('store'), ask())), { ...owner, isRestricted: true });
  await redis.ping();
  t.equal(await redis.get(place), null);
  t.same([asked, used], [['store'], [owner.keyId]], 'it may be used until it has left');
  const refused = cache.find(hash, () => {
    throw new Error('too many');
  });
  await t.rejects(refused, { message: 'too many' });
});

t.test('a tombstone sends lookups to Postgres, outlives cached entries and is not overwritten', async (t) => {
  const { storage, redis, cache, hash, place, owner } = await open(t);
  await cache.find(hash);
  await remembered(redis, place);
  await cache.invalidate(hash);
  t.equal(await redis.get(place), null, 'a lookup finds what it finds of an unknown key');
  const ttl = await redis.pttl(`${place}:revoked`);
  t.ok(ttl > 110_000 && ttl <= 120_000, `for ${ttl} ms`);
  t.match(await cache.find(hash), owner, 'served from Postgres');
  await redis.ping();
  t.equal(await redis.get(place), null, 'and not cached');
  await redis.set(place, '-', 'EX', 120);
  await redis.del(`${place}:revoked`);
  t.match(await cache.find(hash), owner);
  await redis.ping();
  t.equal(await redis.get(place), '-', 'the tombstone of an older gateway stays');
  await revokeKey(storage, owner.accountId, owner.keyId);
  t.equal(await cache.find(hash), null);
});

t.test('a gateway that dies once a revocation is committed leaves no cached key behind', async (t) => {
  const revocations: [string, (context: AccountsContext, owner: { accountId: string; keyId: string }) => unknown][] = [
    ['one key', (context, { accountId, keyId }) => revokeKeyEverywhere(context, accountId, keyId)],
    ['all keys', (context, { accountId }) => revokeEverything(context, accountId)],
    ['the account', (context, { accountId }) => closeEverywhere(context, accountId)],
  ];
  for (const [what, revoke] of revocations) {
    const { storage, redis, cache, hash, place, owner } = await open(t);
    await cache.find(hash);
    await remembered(redis, place);
    const dies = new Error('dies after its commit');
    const keys = { ...cache, invalidate: () => Promise.reject(dies) };
    await t.rejects(Promise.resolve(revoke({ storage, keys } as unknown as AccountsContext, owner)), dies, what);
    t.equal(await cache.find(hash), null, what);
  }
});

t.test('a retry that finds nothing to revoke ends the cached key that a dead gateway left behind', async (t) => {
  const retries: [
    string,
    (context: AccountsContext, owner: { accountId: string; keyId: string }) => Promise<unknown>,
  ][] = [
    ['one key', (context, { accountId, keyId }) => revokeKeyEverywhere(context, accountId, keyId)],
    ['all keys', (context, { accountId }) => revokeEverything(context, accountId)],
    ['its account is deleted', (context, { accountId }) => closeEverywhere(context, accountId)],
  ];
  for (const [what, retry] of retries) {
    const { storage, redis, cache, hash, place, owner } = await open(t);
    await cache.find(hash);
    await remembered(redis, place);
    // Redis was away: no tombstone was written before the commit, and the gateway died before it could write one.
    await revokeKey(storage, owner.accountId, owner.keyId);
    t.match(await cache.find(hash), owner, 'it is still cached');
    const done = await retry({ storage, keys: cache } as unknown as AccountsContext, owner);
    t.match(done, { 'one key': false, 'all keys': { revoked_count: 0 } }[what] ?? true);
    t.equal(await cache.find(hash), null, what);
  }
});

t.test('without Redis a tombstone before the commit keeps no revocation up', async (t) => {
  const { openCache, hash } = await open(t);
  const away = new Redis({ port: 1, lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  away.on('error', () => {});
  t.teardown(() => away.disconnect());
  await t.resolves(openCache({ redis: away }).forget([hash]));
});

t.test('several keys are read at once, each at its place', async (t) => {
  const { redis, cache, used, hash, place, owner } = await open(t);
  await cache.find(hash);
  await remembered(redis, place);
  used.length = 0;
  const unknown = hashApiKey(PEPPER, newApiKey());
  const keys = [unknown, hash].map((each) => ({ hash: each, name: nameOfHash(each) }));
  t.same(await cache.findCached(keys), [null, owner]);
  t.same(used, [owner.keyId]);
  for (const spoilt of ['-', '', 'one', 'one ', ' two', '7']) {
    await redis.set(place, spoilt);
    t.same(await cache.findCached(keys), [null, null], JSON.stringify(spoilt));
  }
  t.equal(used.length, 1);
});

t.test('without Redis lookups go to Postgres, and a revocation waits until cached entries have expired', async (t) => {
  const { openCache, hash, owner } = await open(t);
  const away = new Redis({ port: 1, lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  away.on('error', () => {});
  t.teardown(() => away.disconnect());
  const cache = openCache({ redis: away });
  t.match(await cache.find(hash), owner);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let answered = false;
  const invalidated = cache.invalidate(hash).then(() => {
    answered = true;
  });
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  for (let ms = 0; ms < 10_000; ms += 250) {
    await turns();
    t.equal(answered, false, `after ${ms} ms`);
    mock.timers.tick(250);
  }
  await invalidated;
  t.equal(answered, true);
});

t.test('a revocation is answered as soon as Redis is back', async (t) => {
  const { redis, openCache, cache, hash, place } = await open(t);
  await cache.find(hash);
  await remembered(redis, place);
  let refusals = 3;
  const away = new Proxy(redis, {
    get: (target, name) =>
      name === 'set' && refusals-- > 0 ? () => Promise.reject(new Error('away')) : Reflect.get(target, name),
  });
  const began = performance.now();
  await openCache({ redis: away }).invalidate(hash);
  t.ok(performance.now() - began < 9_000, 'before entries expire');
  t.equal(refusals, -1);
  t.equal(await redis.get(place), null);
  t.equal(await redis.exists(`${place}:revoked`), 1);
});

t.test('a process that is paused between the answer of Postgres and its write caches nothing', async (t) => {
  const { storage, redis, openCache, cache, hash, place, owner } = await open(t);
  // The clock stands where the question was asked, two minutes ago; the tombstone of the revocation is over.
  const paused = openCache({ now: () => Date.now() - 121_000 });
  t.match(await paused.find(hash), owner);
  await revokeKey(storage, owner.accountId, owner.keyId);
  await redis.ping();
  t.equal(await redis.get(place), null);
  t.equal(await cache.find(hash), null);
});

t.test('what was written into Redis by others, or for another key or time, is no owner', async (t) => {
  const { storage, redis, cache, openCache, hash, place, owner } = await open(t);
  const victim = await createAccount(storage);
  await cache.find(hash);
  const right = await remembered(redis, place);
  const otherHash = hashApiKey(PEPPER, newApiKey());
  const otherPlace = place.replace(nameOfHash(hash), nameOfHash(otherHash));
  for (const [at, key, forged] of [
    [place, hash, `${victim} ${owner.keyId}`],
    [place, hash, right.replace(owner.accountId, victim)],
    [place, hash, right.replace(' of ', ' x ')],
    [place, hash, `${right.slice(0, -43)}${'A'.repeat(43)}`],
    [place, hash, right.replace(/ \d{13} /, ` ${Date.now() + 3_600_000} `)],
    [otherPlace, otherHash, right],
  ] as const) {
    await redis.set(at, forged);
    const found = await openCache().find(key);
    t.same(found, key === hash ? owner : null, forged);
  }
  await redis.set(place, right);
  await revokeKey(storage, owner.accountId, owner.keyId);
  t.equal(await openCache({ now: () => Date.now() + 11_000 }).find(hash), null, 'an old entry that was put back');
});
