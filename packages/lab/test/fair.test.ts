import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { fair } from '../src/bench/rows/fair.ts';
import { openStage } from '../src/bench/stage.ts';

// slow: 40 s

const course = {
  windows: 1,
  windowMs: 50,
  soakMinutes: 1,
  batch: { rows: 1, kills: 0 },
  signal: new AbortController().signal,
  onWindow: () => {},
};

t.test('a neighbour of an account that sends all it can does not notice it; accounts get equal shares', async (t) => {
  const databaseUrl = requireEnv('TEST_DATABASE_URL');
  const redisUrl = requireEnv('TEST_REDIS_URL');
  await using stage = await openStage({ databaseUrl, redisUrl, bundles: undefined });
  for (const { quantity, ours, anchor, value, better, must } of await fair.measure(stage, course)) {
    t.comment(`${quantity}: ${ours}; ${anchor}`);
    if (must === null || value === null) continue;
    t.ok(better === 'lower' ? value <= must : value >= must, `${quantity}: ${value.toFixed(3)}, must be ${must}`);
  }
});
