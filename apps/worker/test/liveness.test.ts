import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';
import { jobActivity, livenessCheck } from '../src/ops/liveness.ts';
import { openOps } from '../src/ops/open-ops.ts';
import { servePolls } from '../src/serve-polls.ts';

// slow: 7 s

t.test('a worker that takes nothing while jobs wait and it has free slots is not live', async (t) => {
  let time = 0;
  let oldest: number | null = null;
  const activity = jobActivity(() => time);
  const clocks = { now: () => time, wallNow: () => time };
  const check = livenessCheck(activity, { slots: 2, oldestAt: async () => oldest, ...clocks });
  time = 3_600_000;
  t.equal(await check.ask(), null, 'nothing to do is no fault');
  oldest = time - 31_000;
  t.match(await check.ask(), /^a job waits for 31 s, 2 slots are free, and none was taken for 3600 s/);
  activity.began();
  t.equal(await check.ask(), null, 'it takes jobs');
  time += 61_000;
  t.match(await check.ask(), /1 slots are free/, 'one that hangs does not excuse the others');
  oldest = time - 1_000;
  t.equal(await check.ask(), null, 'a job that has just come proves nothing');
});

t.test('a worker whose polls never end is not live', async (t) => {
  let time = 0;
  const activity = jobActivity(() => time);
  const clocks = { now: () => time, wallNow: () => time };
  const check = livenessCheck(activity, { slots: 2, oldestAt: async () => 0, ...clocks });
  activity.began();
  activity.began();
  time = 149_000;
  t.equal(await check.ask(), null, 'polls may take their time');
  activity.ended();
  activity.began();
  time += 149_000;
  t.equal(await check.ask(), null, 'one ended meanwhile');
  time += 2_000;
  t.match(await check.ask(), /^all 2 slots are taken and no poll ended for 151 s/);
});

/** A real worker with a queue that can be stopped from outside, and no models behind it. */
async function workerWithOps(t: Test) {
  const { url, prefix } = testRedis(t);
  const config = readConfig({
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: url,
    REDIS_PREFIX: prefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: 'http://127.0.0.1:1/v1',
    LOG_LEVEL: 'silent',
    OPS_PORT: '0',
  });
  const context = await openContext(config);
  t.teardown(() => context[Symbol.asyncDispose]());
  const limits = { waitedMs: 50, takesNothingMs: 50, endsNothingMs: 600_000 };
  const ops = await openOps(config, context, limits);
  if (!ops) throw new Error('there is no ops port');
  t.teardown(() => ops[Symbol.asyncDispose]());
  const readiness = async () => {
    const answer = await fetch(`${ops.url}/readyz`);
    return { status: answer.status, ...JSON.parse(await answer.text()) };
  };
  const answers = (status: number) =>
    eventually(`/readyz answers ${status}`, async () => {
      const answer = await readiness();
      return answer.status === status && answer;
    });
  return { context, config, ops, prefix, readiness, answers };
}

t.test('a worker whose queue is blocked answers every ping, and is not ready until it takes jobs again', async (t) => {
  const { context, config, ops, prefix, readiness, answers } = await workerWithOps(t);
  const { redis } = context.resources;
  t.match(await readiness(), { status: 503, checks: { consuming: 'takes no jobs yet' } });
  const serving = servePolls(context, config);
  t.teardown(() => serving.drain(1_000));
  await serving.ready();
  ops.began(serving);
  t.match(await answers(200), { ready: true });

  const blocked = t.intercept(redis.redis, 'epQueueTake', { value: () => Promise.reject(new Error('no answer')) });
  await redis.redis.del(await redis.redis.keys(`*${prefix}*:standard:idle`));
  await redis.enqueuePoll('ps_not_taken');
  const stuck = await eventually('/readyz answers 503 for the queue alone', async () => {
    const answer = await readiness();
    const { liveness, ...others } = answer.checks;
    return answer.status === 503 && liveness && Object.values(others).every((fault) => fault === null) && answer;
  });
  t.match(stuck.checks, { postgres: null, redis: null, event_loop: null, consuming: null });
  t.match(stuck.checks.liveness, /^a job waits for \d+ s, 40 slots are free/);
  t.match(await (await fetch(`${ops.url}/metrics`)).text(), /^eloquentpoll_ready_check\{check="liveness"\} 0$/m);
  t.equal((await fetch(`${ops.url}/livez`)).status, 200, 'it lives: restarting it is for its operator');

  blocked.restore();
  await redis.enqueuePoll('ps_nor_this_one');
  t.match(await answers(200), { ready: true });
});
