import t from 'tap';
import { buildApp } from '../../src/app.ts';
import { access } from '../../src/http/access.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

t.test('keys, cookies, signatures, questions and accounts never reach the log', async (t) => {
  const { app, context, log, keyWith } = await build(t);
  const { key, bearer, accountId } = await keyWith(10);
  await standInWorker(t, context);
  const canary = 'canary7f3a';
  const headers = {
    ...bearer,
    cookie: `ep_session=${canary}`,
    'x-payment': canary,
    'payment-signature': canary,
    'idempotency-key': canary,
    'user-agent': canary,
    referer: `https://x/${canary}`,
  };
  const poll = { question: `Which is better, ${canary}?`, options: [`${canary} A`, 'B'], signature: canary };
  const url = `/api/poll?code=${canary}`;
  t.equal((await app.inject({ method: 'POST', url, headers, payload: poll })).statusCode, 200);
  t.equal(
    (await app.inject({ method: 'POST', url, headers, payload: { ...poll, options: [canary, canary] } })).statusCode,
    400,
  );
  t.equal(
    (
      await app.inject({
        method: 'POST',
        url,
        headers: { ...headers, 'content-type': 'application/json' },
        payload: `{"${canary}`,
      })
    ).statusCode,
    400,
  );
  t.equal((await app.inject({ url: `/${canary}?${canary}`, headers })).statusCode, 404);
  t.equal(
    (
      await app.inject({
        method: 'POST',
        url,
        headers: { ...headers, authorization: `Bearer ${canary}` },
        payload: poll,
      })
    ).statusCode,
    401,
  );

  const bugs = buildApp(context);
  t.teardown(() => bugs.close());
  const sql = async () => {
    // A value that Postgres quotes in its message.
    await context.storage.db.selectFrom('api_keys').select('id').where('id', '=', canary).execute();
  };
  const json = async () => JSON.parse(`{"${canary}`);
  for (const [path, bug] of Object.entries({ '/sql': sql, '/json': json })) {
    bugs.post(path, { schema: { security: access.none, hide: true } }, bug);
  }
  for (const url of ['/sql', '/json']) {
    t.equal((await bugs.inject({ method: 'POST', url, headers, payload: poll })).statusCode, 500);
  }

  const text = log.join('');
  t.ok(log.length >= 7, 'requests are logged');
  t.match(text, /"route":"\/api\/poll","status":200/);
  t.notMatch(text, canary);
  t.notMatch(text, key.slice(5));
  t.notMatch(text, accountId);
  for (const line of log) t.type(JSON.parse(line), 'object', 'every line is JSON');
});
