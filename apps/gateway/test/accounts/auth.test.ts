import { insertKey, listKeys } from '@eloquentpoll/storage';
import t from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { revokeKeyEverywhere } from '../../src/accounts/keys/revoke-key.ts';
import { buildApp } from '../../src/app.ts';
import { build, PEPPER } from '../fixtures/build.ts';

// slow: 3 s

const POLL = { method: 'POST', url: '/api/poll', payload: {} } as const;

t.test(
  '[§4.1-poll-401, §5-rule-401, §5-rule-revoked, §7-401-authentication, §A6-bad-bearer-401] only an active key is accepted; every other bearer is a 401',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { key, bearer, accountId } = await keyWith(0);
    const ask = (authorization?: string) =>
      app.inject({ ...POLL, headers: authorization === undefined ? {} : { authorization } });

    t.equal((await app.inject({ ...POLL, headers: bearer })).statusCode, 400, 'past authentication');
    t.equal((await ask(`bearer ${key}`)).statusCode, 400, 'the scheme has no case');
    t.equal((await ask(`BEARER   ${key}`)).statusCode, 400);

    const flipped = key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
    const bad = [
      newApiKey(),
      flipped,
      key.slice(0, -1),
      `${key}0`,
      key.toUpperCase(),
      `${key} ${key}`,
      accountId,
      '',
      'ep_k_',
      'null',
    ];
    for (const token of bad) {
      const answer = await ask(`Bearer ${token}`);
      t.match([answer.statusCode, answer.json().code], [401, 'invalid_api_key'], token);
      t.match(
        String(answer.headers['www-authenticate']),
        /^Bearer resource_metadata="https:\/\/polls\.example\/\.well-known\/oauth-protected-resource", error="invalid_token"$/,
      );
    }
    for (const header of [undefined, '', 'Basic dTpw', 'Bearerx', key, `Token ${key}`]) {
      const answer = await ask(header);
      t.match([answer.statusCode, answer.json().code], [401, 'authentication_required'], String(header));
      t.match(String(answer.headers['www-authenticate']), /^Bearer resource_metadata="[^"]+"$/);
    }
    t.equal(
      (await app.inject({ ...POLL, url: `/api/poll?api_key=${key}&access_token=${key}` })).statusCode,
      401,
      'never from the query',
    );

    const [stored] = await listKeys(context.storage, accountId);
    t.ok(await revokeKeyEverywhere(context, accountId, stored!.id));
    t.match((await ask(`Bearer ${key}`)).json(), { code: 'invalid_api_key' }, 'revoked and unknown look the same');
  },
);

t.test(
  '[§5-rule-none, §A6-bad-bearer-401] a revoked key is not looked at by operations without security',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { bearer, accountId } = await keyWith(0);
    const [stored] = await listKeys(context.storage, accountId);
    await revokeKeyEverywhere(context, accountId, stored!.id);
    const address = '0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045';
    for (const url of [
      '/api/health',
      '/api/errors/catalog',
      '/api/docs',
      '/api/poll/estimate',
      `/api/wallet/challenge?address=${address}`,
    ]) {
      t.equal((await app.inject({ url, headers: bearer })).statusCode, 200, url);
    }
    const signed = { message: 'not ours', signature: '0x' };
    const rotate = await app.inject({
      method: 'POST',
      url: '/api/wallet/rotate-key',
      headers: bearer,
      payload: signed,
    });
    t.equal(rotate.json().code, 'invalid_wallet_signature', 'the signature is checked, not the key');
  },
);

t.test('invalid credentials with an invalid body are a 401, not a 400', async (t) => {
  const { app } = await build(t);
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: { 'content-type': 'application/json', authorization: 'Bearer unknown' },
    payload: '{',
  });
  t.equal(answer.statusCode, 401);
});

t.test(
  'a key that was good a moment ago is looked up and counted in one trip, and one that is no more counts once',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { bearer, accountId } = await keyWith(0);
    const [known] = await listKeys(context.storage, accountId);
    const second = newApiKey();
    await insertKey(context.storage, { accountId, hash: hashApiKey(PEPPER, second), prefix: apiKeyPrefix(second) });
    const other = { authorization: `Bearer ${second}` };
    for (const url of ['/api/polls', '/api/poll', '/api/poll/stream', '/api/quick-poll']) {
      const post = (headers: Record<string, string>) => app.inject({ method: 'POST', url, headers, payload: {} });
      const left = async (headers: Record<string, string>) =>
        Number((await post(headers)).headers['ratelimit-remaining']);
      const before = await left(bearer);
      const turns: string[][] = [[]];
      const { redis } = context.bus;
      const send = redis.sendCommand;
      redis.sendCommand = (command, ...rest) => {
        if (turns.at(-1)!.length === 0) setImmediate(() => turns.push([]));
        turns.at(-1)!.push(command.name);
        return send.call(redis, command, ...rest);
      };
      t.equal(await left(bearer), before - 1, url);
      redis.sendCommand = send;
      t.same(turns[0]?.toSorted(), ['evalsha', 'get'], 'key and call, in one turn of the event loop');
    }
    const call = (headers: Record<string, string>) =>
      app.inject({ method: 'POST', url: '/api/polls', headers, payload: {} });
    const leftOf = ({ headers }: { headers: Record<string, unknown> }) => Number(headers['ratelimit-remaining']);
    const before = leftOf(await call(other));
    await revokeKeyEverywhere(context, accountId, known!.id);
    for (let i = 0; i < 3; i++) {
      const refused = await call(bearer);
      t.match([refused.statusCode, refused.json().code], [401, 'invalid_api_key']);
    }
    t.equal(leftOf(await call(other)), before - 2, 'this call, and the first one of the revoked key');
  },
);

t.test('a route without schema.security fails at start', async (t) => {
  const { context } = await build(t);
  const app = buildApp(context);
  t.teardown(() => app.close());
  app.register(async (scope) => {
    scope.get('/open', async () => 'anyone');
  });
  await t.rejects(async () => await app.ready(), /GET \/open: schema\.security is missing/);
});
