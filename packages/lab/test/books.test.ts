import { withinOne } from '@eloquentpoll/testkit/calendar';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { closeOldDays, fillBooks } from '../src/books/fill-books.ts';
import { checkRounds, closeAll, wholeCheck } from '../src/books/measure-books.ts';
import { openStores } from '../src/fixture/stores.ts';
import { silent } from '../src/terminal/progress.ts';

t.test('generated books balance, close day by day, and are read as a whole', async (t) => {
  await withinOne('day');
  await using stores = await openStores({
    databaseUrl: requireEnv('TEST_DATABASE_URL'),
    redisUrl: requireEnv('TEST_REDIS_URL'),
  });
  await fillBooks(stores, { polls: 2_000, days: 4, accounts: 30, thin: false }, silent);
  t.match(await closeAll(stores, silent), { pages: 4, days: 4 });
  t.match(await checkRounds(stores, 0), { violations: { length: 0 } });
  t.match(await wholeCheck(stores, silent), { violations: { length: 0 } });
});

t.test('old days that are closed unread have the pages and seals that they would have had', async (t) => {
  await withinOne('day');
  await using stores = await openStores({
    databaseUrl: requireEnv('TEST_DATABASE_URL'),
    redisUrl: requireEnv('TEST_REDIS_URL'),
  });
  await fillBooks(stores, { polls: 2_000, days: 4, accounts: 30, thin: true }, silent);
  await closeOldDays(stores, silent);
  t.match(await closeAll(stores, silent), { pages: 1, days: 1 });
  for (const { violations } of [await checkRounds(stores, 0), await wholeCheck(stores, silent)])
    t.same(
      [...new Set(violations.map(({ rule }) => rule))].toSorted(),
      ['poll_captured', 'poll_result'],
      'for want of votes',
    );
});
