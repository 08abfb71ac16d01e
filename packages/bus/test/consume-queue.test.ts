import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { consumeQueue } from '../src/consume-queue.ts';
import type { PollQueue } from '../src/poll-queue.ts';
import type { PollJob, QueueShard, Taken, Wish } from '../src/queue-shard.ts';

// One consumer and a queue that answers when the test says so: what races in production comes in a fixed order here.

const NOTHING: Taken = { jobs: [], turn: 1, head: Infinity };
const job = (id: string): PollJob => ({ jobId: id, pollId: id, tenant: undefined, awaitedBy: undefined });

function open(t: Test, { shards: count = 1, concurrency = 2 }) {
  const send = new Map<string, (message: string) => void>();
  const gaveBack: string[] = [];
  const ended: string[] = [];
  const running = new Map<string, () => void>();
  const ran: string[] = [];
  const answers: (() => Promise<Taken>)[] = [];
  const shards = Array.from({ length: count }, (_, i) => ({
    channel: () => `shard ${i}`,
    giveBack: async (id: string) => void gaveBack.push(id),
    renew: async () => {},
  })) as Partial<QueueShard>[] as QueueShard[];
  const queue = {
    shards,
    take: async (_shard: QueueShard, wish: Wish) => {
      ended.push(...wish.ended);
      return wish.want > 0 ? await (answers.shift()?.() ?? NOTHING) : (heads.shift()! ?? NOTHING);
    },
    head: async () => [],
  } as Partial<PollQueue> as PollQueue;
  const heads: Taken[] = [];
  const consumer = () =>
    consumeQueue(
      queue,
      {
        hear(channel, listener) {
          send.set(channel, listener);
          return { stands: Promise.resolve(), close() {} };
        },
      },
      {
        concurrency,
        run({ pollId }) {
          ran.push(pollId);
          return new Promise((resolve) => running.set(pollId, resolve));
        },
        onError: (error) => t.error(error),
      },
    );
  return { answers, heads, send, gaveBack, ended, ran, running, consumer };
}

t.test('jobs that come while others are asked for do not add up to more than its slots', async (t) => {
  const { answers, heads, send, gaveBack, ran, running, consumer } = open(t, { shards: 2 });
  const asked = Promise.withResolvers<Taken>();
  let isAsked = false;
  answers.push(() => {
    isAsked = true;
    return asked.promise;
  });
  heads.push(NOTHING, { ...NOTHING, head: 5 });
  const polls = consumer();
  await eventually('it asks the second shard for two jobs', () => isAsked);
  send.get('shard 0')!('ps_1 0 - ');
  send.get('shard 0')!('ps_2 0 - ');
  asked.resolve({ ...NOTHING, jobs: [job('ps_3'), job('ps_4')] });
  await eventually('two are given back', () => gaveBack.length === 2);
  t.same(ran, ['ps_1', 'ps_2']);
  t.same(gaveBack, ['ps_3', 'ps_4']);
  for (const end of running.values()) end();
  await polls.drain(1_000);
});

t.test('a job that comes a second time while it runs is not run again', async (t) => {
  const { send, gaveBack, ended, ran, running, consumer } = open(t, {});
  const polls = consumer();
  await polls.ready();
  for (const id of ['ps_1', 'ps_1', 'ps_2']) send.get('shard 0')!(`${id} 0 - `);
  t.same(ran, ['ps_1', 'ps_2'], 'and takes no slot');
  for (const end of running.values()) end();
  await eventually('both are reported', () => ended.length === 2);
  t.same([ended, gaveBack], [['ps_1', 'ps_2'], []]);
  await polls.drain(1_000);
});
