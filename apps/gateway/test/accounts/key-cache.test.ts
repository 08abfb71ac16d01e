import { mock } from 'node:test';
import { openBus } from '@eloquentpoll/bus';
import { createAccount, insertKey, openStorage, revokeKey } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { nameOfHash } from '../../src/accounts/keys/hashed-key.ts';
import { keyCache } from '../../src/accounts/keys/key-cache.ts';
import { PEPPER } from '../fixtures/build.ts';

// slow: 3 s

async function open(t: Test) {
  const { url, prefix } = testRedis(t);
  const storage = openStorage({ databaseUrl: await testDatabase(t), maxConnections: 2 });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const bus = await openBus({ redisUrl: url, prefix });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const used: string[] = [];
  const cache = keyCache(bus.redis, prefix, storage, (keyId) => used.push(keyId));
  const accountId = await createAccount(storage);
  const key = newApiKey();
  const hash = hashApiKey(PEPPER, key);
  const { id: keyId } = await insertKey(storage, { accountId, hash, prefix: apiKeyPrefix(key) });
  const place = `${prefix}:key:{${nameOfHash(hash)}}`;
  return { storage, redis: bus.redis, prefix, cache, used, hash, place, owner: { accountId, keyId } };
}

const remembered = (redis: Redis, place: string): Promise<string> =>
  eventually('the key is cached', () => redis.get(place));

t.test('a key that was found is cached for ten seconds, and onUse is called each time', async (t) => {
  const { storage, redis, cache, used, hash, place, owner } = await open(t);
  t.match(await cache.find(hash), owner);
  t.equal(await remembered(redis, place), `${owner.accountId} ${owner.keyId}`);
  const ttl = await redis.pttl(place);
  t.ok(ttl > 0 && ttl <= 10_000, `for ${ttl} ms`);
  await revokeKey(storage, owner.accountId, owner.keyId);
  t.match(await cache.find(hash), owner, 'served from cache');
  t.same(used, [owner.keyId, owner.keyId]);
  await redis.del(place);
  t.equal(await cache.find(hash), null);
  t.equal(used.length, 2, 'a miss is not a use');
});

t.test('a tombstone sends lookups to Postgres, outlives cached entries and is not overwritten', async (t) => {
  const { storage, redis, cache, hash, place, owner } = await open(t);
  await cache.find(hash);
  await remembered(redis, place);
  await cache.invalidate(hash);
  t.equal(await redis.get(place), '-');
  const ttl = await redis.pttl(place);
  t.ok(ttl > 110_000 && ttl <= 120_000, `for ${ttl} ms`);
  t.match(await cache.find(hash), owner, 'served from Postgres');
  await redis.ping();
  t.equal(await redis.get(place), '-', 'the tombstone is still there');
  await revokeKey(storage, owner.accountId, owner.keyId);
  t.equal(await cache.find(hash), null);
});

t.test('a pipeline reads several keys, each at its index', async (t) => {
  const { redis, cache, used, hash, place, owner } = await open(t);
  await cache.find(hash);
  await remembered(redis, place);
  used.length = 0;
  const unknown = hashApiKey(PEPPER, newApiKey());
  const keys = [unknown, hash].map((each) => ({ hash: each, name: nameOfHash(each) }));
  const pipeline = redis.pipeline();
  cache.appendTo(pipeline, keys);
  const [[error, reply] = []] = (await pipeline.exec()) ?? [];
  t.equal(error, null);
  t.equal(cache.readReply(reply, 0), null);
  t.same(used, []);
  t.same(cache.readReply(reply, 1), owner);
  t.same(used, [owner.keyId]);
  for (const spoilt of [null, undefined, 'text', ['-'], [''], ['one'], ['one '], [' two'], [7], [null]])
    t.equal(cache.readReply(spoilt, 0), null, JSON.stringify(spoilt));
  t.equal(used.length, 1);
});

t.test('without Redis lookups go to Postgres, and a revocation waits until cached entries have expired', async (t) => {
  const { storage, prefix, hash, owner } = await open(t);
  const away = new Redis({ port: 1, lazyConnect: true, enableOfflineQueue: false, retryStrategy: () => null });
  away.on('error', () => {});
  t.teardown(() => away.disconnect());
  const cache = keyCache(away, prefix, storage, () => {});
  t.match(await cache.find(hash), owner);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let answered = false;
  const invalidated = cache.invalidate(hash).then(() => {
    answered = true;
  });
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  mock.timers.tick(9_999);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  t.equal(answered, false);
  mock.timers.tick(1);
  await invalidated;
  t.equal(answered, true);
});
