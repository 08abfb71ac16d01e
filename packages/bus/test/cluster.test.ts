import { type ClusterServer, startRedisCluster } from '@eloquentpoll/services/redis-cluster';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import calculateSlot from 'cluster-key-slot';
import { Redis } from 'ioredis';
import t from 'tap';
import { openBus } from '../src/index.ts';
import { snapshot, vote } from './fixtures.ts';

// slow: 30 s

// A real cluster: what holds on one Redis holds on three masters, and goes on when one of them dies.

const IDS = Array.from({ length: 40 }, (_, i) => `ps_${i}`);

async function onServer<T>({ url }: ClusterServer, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true });
  await redis.connect();
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

t.test('records, channels and queues on a cluster, and after a master has died', async (t) => {
  await using group = await openThrowAwayGroup('a cluster');
  const cluster = await startRedisCluster({ group, password: 'secret', durable: false, stage: 1 });
  // On a crowded machine a master that was stopped for a moment stays master.
  for (const server of cluster.servers)
    await onServer(server, (redis) => redis.call('CONFIG', 'SET', 'cluster-node-timeout', 6_000));
  const errors: string[] = [];
  await using bus = await openBus({
    redisUrl: cluster.url,
    queueShards: 4,
    // Generous: a crowded machine must not look like a server that hangs.
    commandTimeoutMs: 5_000,
    onError: ({ message }) => errors.push(message),
  });
  const heard = new Map<string, number[]>();
  const announced: string[] = [];
  bus.onCancel((pollId) => announced.push(`${pollId} canceled`));
  bus.onDeletion((pollId) => announced.push(`${pollId} deleted`));
  const ran: string[] = [];
  const consumer = bus.consumePolls({
    concurrency: 5,
    async run(pollId) {
      ran.push(pollId);
      if (pollId === 'ps_awaited')
        await bus.runs.end(pollId, 1, 'acc', snapshot(9, { poll_id: pollId, status: 'failed' }));
    },
  });
  await consumer.ready();

  async function everything(round: number): Promise<void> {
    const ids = IDS.map((id) => `${id}_${round}`);
    const watches = await Promise.all(
      ids.map((id) =>
        bus.watchPoll(id, (news) => {
          if (news) heard.set(id, [...(heard.get(id) ?? []), news.seq]);
        }),
      ),
    );
    await Promise.all(ids.map((id) => bus.runs.open(id, 1, 'acc', snapshot(1))));
    await Promise.all(ids.map((id) => bus.runs.vote(id, 1, vote(0), snapshot(2))));
    const briefs = await bus.runs.briefs([...ids, 'ps_unknown']);
    t.same(
      briefs.map((brief) => brief?.seq ?? null),
      [...ids.map(() => 2), null],
    );
    t.same(await bus.runs.votes(ids[0]!), [vote(0)]);
    await Promise.all(ids.map((id) => bus.runs.end(id, 1, 'acc', snapshot(3, { status: 'failed' }))));
    await eventually('every watcher heard everything', () => ids.every((id) => heard.get(id)?.join(',') === '1,2,3'));
    for (const watch of watches) watch.close();
    await eventually('cancels and deletions are heard, however many slots they have', async () => {
      announced.length = 0;
      await bus.announceCancel(ids[0]!);
      await bus.forgetPolls(ids);
      await eventually('all of them', () => new Set(announced).size > ids.length, 1_000);
      return true;
    });
    // What was announced at an earlier try may be heard late.
    t.same([...new Set(announced)].toSorted(), [`${ids[0]} canceled`, ...ids.map((id) => `${id} deleted`)].toSorted());
    t.same(new Set(await bus.runs.briefs(ids)), new Set([null]));
    ran.length = 0;
    await bus.enqueuePolls(
      'standard',
      ids.map((pollId, rank) => ({ pollId, tenant: 'a', place: { rank, isAwaited: false } })),
    );
    await eventually('every poll was run', () => ran.length === ids.length);
    t.same(ran.toSorted(), ids.toSorted());
  }

  await everything(1);

  const ends: (number | null)[] = [];
  const awaited = await bus.watchEnd('ps_awaited', (news) => ends.push(news?.seq ?? null));
  await bus.enqueuePoll('ps_awaited');
  await eventually('the process that waits for the end hears it, from another slot', () => ends.join(',') === '9');
  awaited.close();

  // A slot with a watched channel goes from its master to another.
  const [pollId, slot] = ['ps_moved', calculateSlot('{ps_moved}')];
  const heardOfMoved: (number | null)[] = [];
  const watch = await bus.watchPoll(pollId, (news) => heardOfMoved.push(news?.seq ?? null));
  await bus.runs.open(pollId, 1, 'acc', snapshot(1));
  const masters = cluster.servers.filter(({ began }) => began === 'master');
  const source = masters.find(({ shard }) => Math.round((shard + 1) * (16_384 / 3)) > slot)!;
  const target = masters.find((server) => server !== source)!;
  await onServer(target, (redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', source.id));
  await onServer(source, async (redis) => {
    await redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target.id);
    t.ok(await bus.runs.vote(pollId, 1, vote(0), snapshot(2)), 'while the slot moves a script is run where its key is');
    t.ok(await bus.runs.end(pollId, 1, 'acc', snapshot(3, { status: 'failed' })));
    t.match(await bus.runs.read(pollId), { owner: 'acc', snapshot: { seq: 3 } });
    t.same(await bus.runs.votes(pollId), []);
    // With the usual time limit, because the replica takes over from a server that hangs for longer.
    await using hurried = await openBus({ redisUrl: cluster.url, queueShards: 4, onError: () => {} });
    const asked = () => hurried.redis.get('{ps_moved}:none');
    await eventually('it is connected', async () => (await asked()) === null);
    target.process.signal('SIGSTOP');
    await t.rejects(asked(), /timed out/);
    target.process.signal('SIGCONT');
    await eventually('what waited for a server that hangs has ended nothing', async () => (await asked()) === null);
    const keys = (await redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 10)) as string[];
    const to = ['127.0.0.1', target.port, '', 0, 1_000, 'AUTH', 'secret', 'KEYS'];
    await redis.call('MIGRATE', ...to, ...keys);
    t.ok(await bus.runs.open(pollId, 2, 'acc', snapshot(4)), 'and when its key is there already');
  });
  for (const server of [target, source])
    await onServer(server, (redis) => redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', target.id));
  await eventually('the watcher is asked to read again', () => heardOfMoved.includes(null));
  t.ok(await bus.runs.end(pollId, 2, 'acc', snapshot(5, { status: 'failed' })));
  await eventually('and hears the end', () => heardOfMoved.at(-1) === 5);
  t.same(heardOfMoved.slice(0, 3), [1, 2, 3]);
  watch.close();

  await eventually('all masters answer', async () => (await bus.ping()).away === 0);
  t.equal((await bus.ping()).masters, 3);
  const [master] = cluster.servers;
  master!.process.signal('SIGKILL');
  const meanwhile = IDS.map((id) => `${id}_meanwhile`);
  await Promise.all(meanwhile.map((id) => bus.enqueuePoll(id)));
  t.match(await bus.queueCounts(), { waiting: Number }, 'shards of the others are counted');
  await eventually('its polls are run from shards of others', () => meanwhile.every((id) => ran.includes(id)));
  t.ok((await bus.ping()).masters > 1, 'the others answer');
  await eventually(
    'its replica has taken over',
    async () => {
      const all = IDS.map((id) => bus.runs.open(`${id}_again`, 1, 'acc', snapshot(1)));
      return (await Promise.allSettled(all)).every(({ status }) => status === 'fulfilled');
    },
    60_000,
  );
  await everything(2);
  await consumer.drain(1_000);
});
