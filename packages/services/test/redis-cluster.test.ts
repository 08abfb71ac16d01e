import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { Cluster } from 'ioredis';
import t from 'tap';
import { startRedisCluster } from '../src/redis-cluster.ts';

// slow: 12 s

t.test('three masters with a replica each share the slots, also after all were started again', async (t) => {
  const group = await openThrowAwayGroup('a cluster');
  t.teardown(() => group[Symbol.asyncDispose]());
  const options = { group, password: 'secret', durable: true, stage: 1 };
  for (const round of ['new', 'again']) {
    const { servers } = await startRedisCluster(options);
    t.equal(servers.length, 6);
    const cluster = new Cluster(
      servers.slice(0, 1).map(({ port }) => ({ host: '127.0.0.1', port })),
      { redisOptions: { password: 'secret' } },
    );
    const keys = Array.from({ length: 30 }, (_, i) => `{${i}}:key`);
    if (round === 'new') for (const key of keys) await cluster.set(key, key);
    t.same(await Promise.all(keys.map((key) => cluster.get(key))), keys, round);
    t.equal(cluster.nodes('master').length, 3);
    cluster.disconnect();
    for (const { process } of servers) process.signal('SIGTERM');
    await Promise.all(servers.map(({ process }) => process.exited));
  }
});
