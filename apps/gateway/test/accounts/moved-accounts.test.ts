import { moveAccount, openStorage } from '@eloquentpoll/storage';
import { ownerUrl, testDatabase } from '@eloquentpoll/testkit/database';
import t from 'tap';
import { hashApiKey } from '../../src/accounts/keys/api-key.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// A gateway whose account has moved to another cell: it sends the router there, and changes nothing here.

t.test('what belongs to a moved account is a 503 that leads a router to its cell', async (t) => {
  const { app, context, keyWith, sessionFor, asOwner } = await build(t);
  const { accountId, bearer } = await keyWith(5);
  const cookie = await sessionFor(accountId);
  await standInWorker(t, context);
  const resultOf = async (headers: { authorization: string }): Promise<string> => {
    const payload = { question: 'Which one is it to be?', options: ['A', 'B'] };
    return (await app.inject({ method: 'POST', url: '/api/poll', headers, payload })).json().poll_id;
  };
  const [own, others] = [await resultOf(bearer), await resultOf((await keyWith(5)).bearer)];
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
    'the page of its result': await app.inject({ url: `/result/${own}`, headers: cookie }),
    'the receipt of its result': await app.inject({ url: `/api/results/${own}/receipt`, headers: bearer }),
    'the events of its result': await app.inject({ url: `/result/${own}/events`, headers: cookie }),
    'a status by a key': await app.inject({ url: '/api/polls/ps_0123456789abcdefghjkmnpq/status', headers: bearer }),
  };
  for (const [name, answer] of Object.entries(later)) {
    t.match(answer, { statusCode: 503, headers: { 'x-accel-redirect': '@ep_cell_b' } }, name);
    t.match(answer.json(), { code: 'account_moving' }, name);
  }
  for (const [url, headers] of [
    [`/result/${others}`, cookie],
    [`/api/results/${others}/receipt`, cookie],
    [`/api/results/${others}/receipt`, bearer],
  ] as const) {
    const answer = await app.inject({ url, headers });
    t.match(answer, { statusCode: 200, headers: { 'cache-control': 'public, no-cache' } }, `${url} is another's, here`);
  }
  t.same(await asOwner(`select posted_u::integer from balances where account_id = '${accountId}'`), [{ posted_u: 0 }]);
});
