import { startRedisCluster } from '@eloquentpoll/services/redis-cluster';
import { openThrowAwayGroup } from '@eloquentpoll/services/throw-away-group';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { openBus } from '../src/index.ts';
import { snapshot, vote } from './fixtures.ts';

// slow: 25 s

// A real cluster: what holds on one Redis holds on three masters, and goes on when one of them dies.

const IDS = Array.from({ length: 40 }, (_, i) => `ps_${i}`);

t.test('records, channels and queues on a cluster, and after a master has died', async (t) => {
  await using group = await openThrowAwayGroup('a cluster');
  const cluster = await startRedisCluster({ group, password: 'secret', durable: false, stage: 1 });
  const errors: string[] = [];
  await using bus = await openBus({ redisUrl: cluster.url, onError: ({ message }) => errors.push(message) });
  const heard = new Map<string, number[]>();
  const ran: string[] = [];
  const consumer = bus.consumePolls({ concurrency: 5, run: async (pollId) => void ran.push(pollId) });
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
    ran.length = 0;
    await bus.enqueuePolls(
      'standard',
      ids.map((pollId, rank) => ({ pollId, tenant: 'a', place: { rank, isAwaited: false } })),
    );
    await eventually('every poll was run', () => ran.length === ids.length);
    t.same(ran.toSorted(), ids.toSorted());
  }

  await everything(1);
  const [master] = cluster.servers;
  master!.process.signal('SIGKILL');
  await eventually(
    'its replica has taken over',
    async () => {
      const all = IDS.map((id) => bus.runs.open(`${id}_again`, 1, 'acc', snapshot(1)));
      return (await Promise.allSettled(all)).every(({ status }) => status === 'fulfilled');
    },
    30_000,
  );
  await everything(2);
  await consumer.drain(1_000);
});
