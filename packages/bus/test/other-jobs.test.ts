import { testRedis } from '@eloquentpoll/testkit/redis';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import t from 'tap';
import { openBus } from '../src/index.ts';
import { keysUnder } from '../src/keys.ts';

// Jobs that a process of another release put into the queue: as they were recorded, and with more in them than is known
// here.

t.test('a job of another release is the poll that it names', async (t) => {
  const { url, prefix } = testRedis(t);
  await using bus = await openBus({ redisUrl: url, prefix });
  const connection = new Redis(url, { maxRetriesPerRequest: null });
  const queue = new Queue('polls', { connection, prefix: keysUnder(prefix).queue });
  t.teardown(async () => {
    await queue.close();
    connection.disconnect();
  });
  const settings = { removeOnComplete: true, removeOnFail: true, attempts: 1 };
  await queue.add('poll', { pollId: 'ps_recorded' }, { ...settings, jobId: 'ps_recorded' });
  await queue.add('poll', { pollId: 'ps_swept' }, { ...settings, jobId: 'ps_swept.3' });
  const later = { pollId: 'ps_later', lane: { name: 'fast', weight: 2 }, of_a_later_release: [1] };
  await queue.add('poll_with_lane', later, { ...settings, jobId: 'ps_later', priority: 5 });

  const ran: string[] = [];
  const all = Promise.withResolvers<void>();
  const consumer = bus.consumePolls({
    concurrency: 1,
    run: async (pollId) => {
      if (ran.push(pollId) === 3) all.resolve();
    },
  });
  await all.promise;
  await consumer.drain(1_000);
  t.same(ran.sort(), ['ps_later', 'ps_recorded', 'ps_swept']);
});

t.test('a job that is put in here is the one that was recorded', async (t) => {
  const { url, prefix } = testRedis(t);
  await using bus = await openBus({ redisUrl: url, prefix });
  await bus.enqueuePoll('ps_one');
  await bus.enqueuePoll('ps_one', { round: 2 });
  for (const id of ['ps_one', 'ps_one.2']) {
    const { name, data = '' } = await bus.redis.hgetall(`${keysUnder(prefix).queue}:polls:${id}`);
    t.equal(name, 'poll');
    t.same(JSON.parse(data), { pollId: 'ps_one' });
  }
});
