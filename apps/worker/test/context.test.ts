import { openBus } from '@eloquentpoll/bus';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t from 'tap';
import { readConfig } from '../src/config.ts';
import { openContext } from '../src/context.ts';

// What the composition root connects: the parts have tests of their own.

t.test('a cancellation that a gateway announces is looked up at once', async (t) => {
  const { url, prefix } = testRedis(t);
  const settings = {
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: url,
    REDIS_PREFIX: prefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: 'http://127.0.0.1:1/v1',
    LOG_LEVEL: 'silent',
  };
  await using worker = await openContext(readConfig(settings));
  const looked: string[] = [];
  worker.leases.look = (pollId) => void looked.push(pollId);
  await using gateway = await openBus({ redisUrl: url, prefix });
  await eventually('the worker hears of it', async () => {
    await gateway.announceCancel('ps_canceled');
    return looked.length > 0;
  });
  t.equal(looked[0], 'ps_canceled');
});
