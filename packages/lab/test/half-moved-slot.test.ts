import { startRedisCluster } from '@eloquentpoll/services/redis-cluster';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { Cluster } from 'ioredis';
import t from 'tap';
import { mastersNow, onServer, untilClusterIsWhole } from '../src/faults/cluster-servers.ts';

// slow: 8 s

t.test('a slot whose move was cut off can be read again once the cluster is whole', async (t) => {
  const group = await openThrowAwayGroup('a half moved slot');
  t.teardown(() => group[Symbol.asyncDispose]());
  const started = await startRedisCluster({ group, password: 'secret', durable: false, stage: 1 });
  await untilClusterIsWhole(started, 10_000);
  const client = new Cluster(
    started.servers.map(({ port }) => ({ host: '127.0.0.1', port })),
    { redisOptions: { password: 'secret' } },
  );
  t.teardown(() => client.disconnect());
  const [source, target] = await mastersNow(started);
  const slot = source!.slots[0]![0];
  // The target was killed before it knew, or has forgotten.
  await onServer(source!.server, (redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target!.server.id));
  const key = await keyOf(slot, (name) => client.cluster('KEYSLOT', name));
  await t.rejects(client.get(key), /Too many Cluster redirections/);
  await untilClusterIsWhole(started, 10_000);
  t.equal(await client.get(key), null);
});

async function keyOf(slot: number, slotOf: (name: string) => Promise<number>): Promise<string> {
  for (let i = 0; ; i++) if ((await slotOf(`key ${i}`)) === slot) return `key ${i}`;
}
