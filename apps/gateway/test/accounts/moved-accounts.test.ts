import { moveAccount, openStorage } from '@eloquentpoll/storage';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { hashApiKey } from '../../src/accounts/keys/api-key.ts';
import { build } from '../fixtures/build.ts';

// A gateway whose account has moved to another cell: it sends the router there, and changes nothing here.

t.test('what belongs to a moved account is a 503 that leads a router to its cell', async (t) => {
  const { app, context, keyWith, sessionFor, asOwner } = await build(t);
  const { accountId, bearer } = await keyWith(5);
  const cookie = await sessionFor(accountId);
  const target = openStorage({ databaseUrl: ownerUrl(await testDatabase(t)), maxConnections: 2 });
  const source = openStorage({ databaseUrl: ownerUrl(context.config.database.url), maxConnections: 2 });
  t.teardown(() => Promise.all([target[Symbol.asyncDispose](), source[Symbol.asyncDispose]()]));
  t.equal((await app.inject({ url: '/api/keys', headers: bearer })).statusCode, 200, 'it is in the cache');
  const seen: number[] = [];
  await moveAccount(
    {
      accountId,
      from: { name: '0', storage: source },
      to: { name: 'b', storage: target },
      drainS: 5,
      keepS: 60,
      cachedS: 0,
    },
    async (step) => {
      if (step !== 'frozen') return;
      const refused = await app.inject({ method: 'POST', url: '/api/keys', headers: bearer });
      t.match(refused, { statusCode: 503, headers: { 'retry-after': '2' } });
      t.match(refused.json(), { code: 'account_moving' });
      t.notOk('x-accel-redirect' in refused.headers, 'it is still here');
      seen.push((await app.inject({ url: '/api/usage/balance', headers: bearer })).statusCode);
    },
  );
  t.same(seen, [200], 'it could be read meanwhile');

  const poll = { question: 'Which one is it to be?', options: ['A', 'B'] };
  const answers = {
    'a poll by a key that is cached': await app.inject({
      method: 'POST',
      url: '/api/polls',
      headers: bearer,
      payload: poll,
    }),
    'a login': await app.inject({ url: '/api/balance', headers: cookie }),
  };
  await context.keys.invalidate(hashApiKey(context.config.keyPepper, bearer.authorization.slice('Bearer '.length)));
  const later = {
    ...answers,
    'a key': await app.inject({ url: '/api/keys', headers: bearer }),
    'a status by a key': await app.inject({ url: '/api/polls/ps_0123456789abcdefghjkmnpq/status', headers: bearer }),
  };
  for (const [name, answer] of Object.entries(later)) {
    t.match(answer, { statusCode: 503, headers: { 'x-accel-redirect': '@ep_cell_b' } }, name);
    t.match(answer.json(), { code: 'account_moving' }, name);
  }
  t.same(await asOwner(`select posted_u::integer from balances where account_id = '${accountId}'`), [{ posted_u: 0 }]);
});
