import { testRedis } from '@eloquentpoll/testkit/redis';
import { Redis } from 'ioredis';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { clientNetwork } from '../../src/http/rate-limits/client-network.ts';
import { rateLimiter } from '../../src/http/rate-limits/rate-limiter.ts';

t.test('exactly as many calls pass as the limit says, at any replica', async (t) => {
  const { url, prefix } = testRedis(t);
  const replicas = [new Redis(url), new Redis(url)];
  t.teardown(() => replicas.forEach((redis) => void redis.disconnect()));
  const policies = readPolicies('poll=100/3600');
  const limiters = replicas.map((redis) => rateLimiter(redis, prefix, policies));
  const budgets = await Promise.all(Array.from({ length: 500 }, (_, i) => limiters[i % 2]!.take('poll', 'a')));
  t.equal(budgets.filter((budget) => budget.allowed).length, 100);
  t.match(
    budgets.find((budget) => !budget.allowed),
    { remaining: 0, window: { limit: 100, seconds: 3600 } },
  );
  t.ok(budgets.every((budget) => budget.resetSeconds > 0 && budget.resetSeconds <= 3600));
  t.equal((await limiters[0]!.take('poll', 'b')).remaining, 99, 'another principal has a budget of its own');
  t.ok((await limiters[0]!.take('session', 'a')).allowed, 'and so has another operation');
});

t.test('of several windows the tightest is reported', async (t) => {
  const { url, prefix } = testRedis(t);
  const redis = new Redis(url);
  t.teardown(() => void redis.disconnect());
  const limiter = rateLimiter(redis, prefix, readPolicies('free_poll=5/10+3/3600'));
  t.match(await limiter.take('free_poll', 'ip'), { allowed: true, remaining: 2, window: { limit: 3, seconds: 3600 } });
  const callers = ['other', 'ip'].map((principal) => ({ principal, calls: 1 }));
  const counted = await limiter.count('free_poll', callers);
  t.same(
    counted.map((own) => limiter.budgetOf('free_poll', own!, 0).remaining),
    [2, 1],
  );
});

t.test('without Redis paid operations have a local budget and free ones close', async (t) => {
  const redis = new Redis('redis://127.0.0.1:1', {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => {});
  t.teardown(() => redis.disconnect());
  const limiter = rateLimiter(redis, 'x', readPolicies('poll=10/60'));
  const taken = [];
  for (let i = 0; i < 8; i++) taken.push((await limiter.take('poll', 'a')).allowed);
  t.same(taken, [true, true, true, true, true, false, false, false], 'half of the budget');
  t.match(await limiter.take('free_poll', 'a'), { allowed: false, remaining: 0 });
});

t.test('settings are read strictly', async (t) => {
  t.throws(
    () => readPolicies('polls=1/2'),
    /"polls=1\/2" names no operation; they are poll, batch, batch_check, free_poll, /,
  );
  t.throws(() => readPolicies('poll=0/2'), /must look like poll=100\/60/);
  t.throws(() => readPolicies('__proto__=1/2'), /names no operation/);
  t.same(readPolicies(' poll=7/9 , login=1/1').poll.windows, [{ limit: 7, seconds: 9 }]);
  t.same(readPolicies(undefined), readPolicies(''));
});

t.test('addresses are counted by who can own them', async (t) => {
  t.equal(clientNetwork('203.0.113.9'), '203.0.113.9');
  t.equal(clientNetwork('::ffff:203.0.113.9'), '203.0.113.9');
  t.equal(clientNetwork('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  t.equal(clientNetwork('2001:db8:1:2::9'), clientNetwork('2001:DB8:0001:2:ffff::1'));
  t.not(clientNetwork('2001:db8:1:3::9'), clientNetwork('2001:db8:1:2::9'));
  t.equal(clientNetwork('::1'), '0:0:0:0::/64');
  t.equal(clientNetwork('fe80::1%eth0'), 'fe80:0:0:0::/64');
  t.equal(clientNetwork(undefined), '', 'the connection is closed');
});
