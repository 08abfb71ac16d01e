import { withinOne } from '@eloquentpoll/testkit/calendar';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { openStores } from '../src/fixture/stores.ts';
import { fillLists } from '../src/lists/fill-lists.ts';
import { listQuestions } from '../src/lists/list-questions.ts';
import { plansOf, scannedWhole, timesOf } from '../src/lists/measure-lists.ts';
import { chance } from '../src/terminal/chance.ts';
import { silent } from '../src/terminal/progress.ts';

// slow: 20 s

t.test('every list of a large account is answered, and reads no table from one end to the other', async (t) => {
  await withinOne('day');
  await using stores = await openStores({
    databaseUrl: requireEnv('TEST_DATABASE_URL'),
    redisUrl: requireEnv('TEST_REDIS_URL'),
  });
  const polls = 10_000;
  const indexes = () =>
    stores.query(`
    select indexdef from pg_indexes join pg_class c on c.oid = tablename::regclass
     where schemaname = 'public' and not relispartition order by indexname`);
  const before = await indexes();
  const filled = await fillLists(stores, { polls, thin: false }, silent);
  t.same(await indexes(), before, 'indexes and keys are there again');
  const draw = chance('lists test');
  for (const question of listQuestions(filled, polls)) {
    t.ok((await timesOf(stores, question, 1, draw)).p95 > 0, question.name);
    const plans = await plansOf(stores, question, draw);
    t.same(plans.flatMap(scannedWhole), [], question.name);
  }
});
