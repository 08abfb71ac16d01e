import { loadPanels } from '@eloquentpoll/models/panels';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { raceForBalances } from '../src/attacks/balance-races.ts';
import { openStores } from '../src/fixture/stores.ts';
import { silent } from '../src/terminal/progress.ts';

// A few of the races of `npm run attack -- --only races`.

t.test('ten races of 200 polls for one balance overspend nothing', async (t) => {
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  await using stores = await openStores(servers);
  const races = await raceForBalances(stores, loadPanels({ file: 'simulator' }), 10, silent);
  t.same(races, { races: 10, grouped: 4, accepted: 119, wrong: [], unlikeStored: 0, violations: 0 });
});
