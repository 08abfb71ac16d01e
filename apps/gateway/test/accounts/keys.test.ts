import { randomUUID } from 'node:crypto';
import { request as send } from 'node:http';
import { checkLedger, createAccount } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { hashApiKey, looksLikeApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { createKey } from '../../src/accounts/keys/issue-key.ts';
import { revokeEverything } from '../../src/accounts/keys/revoke-everything.ts';
import { build, PEPPER } from '../fixtures/build.ts';

// slow: 3 s

type Headers = Record<string, string>;

const gateway = await build(t);

const create = (headers: Headers, payload?: object) =>
  gateway.app.inject({ method: 'POST', url: '/api/keys', headers, ...(payload && { payload }) });
const list = async (headers: Headers) => (await gateway.app.inject({ url: '/api/keys', headers })).json();
const revoke = (headers: Headers, id: string) =>
  gateway.app.inject({ method: 'DELETE', url: `/api/keys/${id}`, headers });
const bearerOf = (key: string): Headers => ({ authorization: `Bearer ${key}` });

/** Cookie and bearer headers of one account. */
async function both() {
  const { accountId, bearer } = await gateway.keyWith(0);
  return { accountId, bearer, session: await gateway.sessionFor(accountId) };
}

const refusals = async (t: Test, headers: Headers, id: string, [status, code]: [number, string]) => {
  for (const answer of [
    await gateway.app.inject({ url: '/api/keys', headers }),
    await create(headers),
    await revoke(headers, id),
  ]) {
    t.match([answer.statusCode, answer.json().code], [status, code]);
  }
};

t.test(
  '[§3.3-create, §2.8-id, §2.8-label, §2.8-created-at, §4.4-create-201, §4.4-create-optional-body, §4.4-create-label, §4.4-create-id, §4.4-create-key, §4.4-create-key-prefix, §4.4-create-created-at, §4.4-create-warning, §2.8-key-prefix, §2.8-plaintext-prefix, §2.8-plaintext-once, §2.8-no-hash, §4.4-list-200, §4.4-list-cookie, §4.4-list-bearer, §1-support-keys] a key is shown once, works, and is listed without its secret',
  async (t) => {
    const { session, bearer } = await both();
    for (const headers of [session, bearer]) {
      const answer = await create(headers, { label: 'laptop' });
      t.equal(answer.statusCode, 201);
      t.equal(answer.headers['cache-control'], 'no-store');
      const made = answer.json();
      t.match(made, { label: 'laptop', warning: /not be shown again/, created_at: /Z$/ });
      t.ok(looksLikeApiKey(made.key));
      t.equal(made.key_prefix, made.key.slice(0, 10));

      const keys = await gateway.app.inject({ url: '/api/keys', headers });
      t.equal(keys.statusCode, 200);
      t.match(keys.json()[0], { id: made.id, key_prefix: made.key_prefix, label: 'laptop', revoked_at: null });
      t.notMatch(keys.body, new RegExp(made.key));
      t.notMatch(keys.body, new RegExp(hashApiKey(PEPPER, made.key).toString('hex'), 'i'));
      t.notMatch(keys.body, /hash/);
      t.equal(
        (await gateway.app.inject({ url: '/api/keys', headers: bearerOf(made.key) })).statusCode,
        200,
        'it works',
      );
      t.notMatch(gateway.log.join(''), new RegExp(made.key), 'and is in no log');
    }

    t.match((await create(bearer)).json(), { label: '' }, 'no body');
    t.match((await create(bearer, {})).json(), { label: '' });
    const twice = { ...bearer, 'idempotency-key': 'the-same' };
    t.equal((await create(twice)).statusCode, 400, 'an Idempotency-Key would not bring a key back');
  },
);

t.test('[§8-key-label-max, §4.4-create-label] a label has at most 64 characters, counted as code points', async (t) => {
  const { bearer } = await both();
  for (const label of ['x'.repeat(64), '😀'.repeat(64), '']) {
    const answer = await create(bearer, { label });
    t.match([answer.statusCode, answer.json().label], [201, label]);
  }
  for (const label of ['x'.repeat(65), '😀'.repeat(65), null, 5, ['a'], 'nul\0', '\ud800']) {
    t.equal((await create(bearer, { label })).statusCode, 400, JSON.stringify(label));
  }
  t.equal((await create(bearer, ['label'])).statusCode, 400);
});

t.test(
  '[§3.3-revoke, §3.3-revoke-stops-auth, §3.3-revoke-again-404, §4.4-delete-200, §4.4-delete-404-missing, §4.4-delete-404-revoked, §5-rule-revoked, §7-404-key-revoked, §2.8-revoked-at] a key is revoked once, and stays in the list',
  async (t) => {
    const { session, bearer } = await both();
    for (const headers of [session, bearer]) {
      const { id, key } = (await create(headers)).json();
      t.equal((await gateway.app.inject({ url: '/api/keys', headers: bearerOf(key) })).statusCode, 200);
      t.match(await revoke(headers, id), { statusCode: 200, body: '{"revoked":true}' });
      t.match((await gateway.app.inject({ url: '/api/keys', headers: bearerOf(key) })).json(), {
        code: 'invalid_api_key',
      });
      t.match((await revoke(headers, id)).json(), { code: 'key_not_found' }, 'again');
      const listed = (await list(headers)).find((one: { id: string }) => one.id === id);
      t.match(listed, { revoked_at: /Z$/ });
    }
    for (const nonsense of [randomUUID(), 'x', '1', '%00', `{${randomUUID()}}`, randomUUID().replaceAll('-', '')]) {
      const answer = await revoke(bearer, nonsense);
      t.ok(nonsense === '%00' ? answer.statusCode === 400 : answer.json().code === 'key_not_found', nonsense);
    }
    const own = (await create(bearer)).json();
    t.equal((await revoke(bearerOf(own.key), own.id)).statusCode, 200, 'a key may end itself');
    t.equal((await revoke(bearerOf(own.key), own.id)).statusCode, 401);
    t.same(await checkLedger(gateway.context.storage), []);
  },
);

t.test(
  '[§A6-api-key-revoked-everywhere, §3.3-revoke-stops-auth] once revocation is answered, another replica refuses the key',
  async (t) => {
    const there = await build(t, { database: gateway.context.config.database, redis: gateway.context.config.redis });
    const { bearer } = await both();
    for (let round = 0; round < 20; round++) {
      const { id, key } = (await create(bearer)).json();
      t.equal((await there.app.inject({ url: '/api/keys', headers: bearerOf(key) })).statusCode, 200);
      t.equal((await revoke(bearer, id)).statusCode, 200);
      t.equal((await there.app.inject({ url: '/api/keys', headers: bearerOf(key) })).statusCode, 401);
    }
  },
);

t.test(
  '[§3.3-revoke-foreign, §4.4-list-own, §7-404-not-found] keys of another account are neither listed nor revoked',
  async (t) => {
    const [mine, theirs] = [await both(), await both()];
    const [{ id }] = await list(theirs.bearer);
    for (const headers of [mine.bearer, mine.session]) {
      t.match((await revoke(headers, id)).json(), { code: 'key_not_found' });
      t.notOk((await list(headers)).some((key: { id: string }) => key.id === id));
    }
    t.match(await list(theirs.bearer), [{ id, revoked_at: null }], 'still theirs');
    t.equal((await revoke({ ...theirs.session, ...mine.bearer }, id)).statusCode, 404, 'the bearer decides');
  },
);

t.test(
  '[§3.3-create-authenticated, §4.4-list-401, §4.4-create-401, §4.4-delete-401] without valid credentials listing, creating and revoking are a 401',
  async (t) => {
    const { bearer, session } = await both();
    const [{ id }] = await list(bearer);
    await refusals(t, {}, id, [401, 'authentication_required']);
    await refusals(t, { cookie: 'ep_session=x' }, id, [401, 'authentication_required']);
    const bad = `Bearer ${bearer.authorization.slice(0, -1)}`;
    await refusals(t, { authorization: bad }, id, [401, 'invalid_api_key']);
    await refusals(t, { ...session, authorization: bad }, id, [401, 'invalid_api_key']);
    t.match(await list(bearer), [{ id, revoked_at: null }]);
  },
);

t.test('a cookie with a cross-origin request is a 403', async (t) => {
  const { session, bearer } = await both();
  const [{ id }] = await list(bearer);
  const { cookie, origin } = session;
  const foreign: Headers[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${origin}.evil.example` },
    { origin: origin.replace('https', 'http') },
    { origin: `${origin}:8443` },
    { origin: '' },
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ];
  for (const from of foreign) {
    for (const answer of [
      await create({ cookie, ...from }, { label: 'forged' }),
      await revoke({ cookie, ...from }, id),
    ]) {
      t.match([answer.statusCode, answer.json().code], [403, 'forbidden_origin'], JSON.stringify(from));
    }
  }
  t.match(await list(bearer), [{ id, revoked_at: null }], 'nothing was made or ended');
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/api/keys',
      headers: { ...session, 'content-type': type },
      payload: '{"label":"form"}',
    });
    t.equal(answer.statusCode, 415, 'what a form can send is not read');
  }
  t.equal((await create(session)).statusCode, 201);
  t.equal((await create({ cookie, 'sec-fetch-site': 'same-origin' })).statusCode, 201);
  t.equal((await create({ cookie })).statusCode, 201, 'a program that logged in says nothing about pages');
  t.equal((await create({ ...bearer, origin: 'https://evil.example' })).statusCode, 201, 'a bearer is accepted');
  t.equal((await revoke({ cookie }, id)).statusCode, 200);
});

t.test('[§2.8-last-used-at] uses of several keys are written to last_used_at in one flush', async (t) => {
  // A gateway of its own, because each also writes them every ten seconds.
  const { app, context, keyWith } = await build(t);
  const { bearer: headers } = await keyWith(0);
  const unused = (await app.inject({ method: 'POST', url: '/api/keys', headers })).json();
  const lastUsed = async () => {
    const keys: { id: string; last_used_at: string | null }[] = (
      await app.inject({ url: '/api/keys', headers })
    ).json();
    return Object.fromEntries(keys.map(({ id, last_used_at }) => [id === unused.id ? 'unused' : 'used', last_used_at]));
  };
  t.same(await lastUsed(), { used: null, unused: null }, 'a request does not write');
  await context.usage.flush();
  t.match(await lastUsed(), { used: /Z$/, unused: null });
});

t.test('shutdown flushes last uses, also beside the id of a key that does not exist', async (t) => {
  const accountId = await createAccount(gateway.context.storage);
  const { id } = (await create(await gateway.sessionFor(accountId))).json();
  gateway.context.usage.note(randomUUID());
  gateway.context.usage.note(id);
  await gateway.context.usage[Symbol.asyncDispose]();
  t.match(await list(await gateway.sessionFor(accountId)), [{ id, last_used_at: /Z$/ }]);
});

t.test(
  'an account has at most 100 active keys, also when they are made at once; revoking one allows another',
  async (t) => {
    const { session, bearer } = await both();
    const answers: Awaited<ReturnType<typeof create>>[] = [];
    for (let round = 0; round < 12; round++)
      answers.push(...(await Promise.all(Array.from({ length: 10 }, () => create(session)))));
    const made = answers.filter(({ statusCode }) => statusCode === 201);
    t.equal(made.length, 99, 'beside the one that was there');
    const refused = answers.find(({ statusCode }) => statusCode !== 201)!;
    t.match([refused.statusCode, refused.json().code], [409, 'key_limit_reached']);
    t.equal((await revoke(bearer, made[0]!.json().id)).statusCode, 200);
    t.equal((await create(session)).statusCode, 201);
  },
);

t.test('the list shows active keys first, and pages by `after` and the Link header', async (t) => {
  const { session } = await both();
  const ids: string[] = [];
  for (const label of ['a', 'b', 'c', 'd']) ids.push((await create(session, { label })).json().id);
  await revoke(session, ids[3]!);
  const seen: string[] = [];
  let url: string | undefined = '/api/keys?limit=2';
  for (let pages = 0; url !== undefined; pages++) {
    t.ok(pages < 4, 'the pages end');
    const answer: Awaited<ReturnType<typeof create>> = await gateway.app.inject({ url, headers: session });
    t.equal(answer.statusCode, 200);
    seen.push(...answer.json().map(({ id }: { id: string }) => id));
    url = /<https:\/\/polls\.example([^>]+)>; rel="next"/.exec(String(answer.headers.link ?? ''))?.[1];
  }
  t.equal(seen.length, 5);
  t.same(seen.slice(0, 3), [ids[2], ids[1], ids[0]], 'newest first');
  t.equal(seen[4], ids[3], 'the revoked one last');
  const unknown = await gateway.app.inject({ url: `/api/keys?after=${randomUUID()}`, headers: session });
  t.match([unknown.statusCode, unknown.json().code], [400, 'validation_error']);
});

t.test('a key with expires_at works until then, whatever is cached', async (t) => {
  const { session } = await both();
  const statusOf = async ({ key }: { key: string }) =>
    (await gateway.app.inject({ url: '/api/keys', headers: bearerOf(key) })).statusCode;
  // Twice as long, until it was made and used before its end.
  async function used(livesMs: number): Promise<{ made: { key: string }; endsAt: number; livesMs: number }> {
    const expires_at = new Date(Date.now() + livesMs).toISOString();
    const endsAt = Date.parse(expires_at);
    const made = (await create(session, { expires_at })).json();
    const status = await statusOf(made);
    if (Date.now() >= endsAt && livesMs < 60_000) return used(2 * livesMs);
    t.equal(made.expires_at, expires_at);
    t.equal(status, 200);
    return { made, endsAt, livesMs };
  }
  const { made, endsAt, livesMs } = await used(2_000);
  await eventually('the key has expired', async () => (await statusOf(made)) === 401, livesMs + 20_000);
  t.ok(Date.now() >= endsAt);
  const past = await create(session, { expires_at: '2020-01-01T00:00:00Z' });
  t.match([past.statusCode, past.json().code], [400, 'validation_error']);
});

t.test('DELETE /api/keys ends every key and every login of the account, and of no other', async (t) => {
  const { session, bearer, accountId } = await both();
  const other = await both();
  const laptop = await gateway.sessionFor(accountId);
  const answer = await gateway.app.inject({ method: 'DELETE', url: '/api/keys', headers: bearer });
  t.match([answer.statusCode, answer.json()], [200, { revoked_count: 1, logins_ended: 2 }]);
  for (const headers of [session, bearer, laptop])
    t.equal((await gateway.app.inject({ url: '/api/keys', headers })).statusCode, 401);
  for (const headers of [other.session, other.bearer])
    t.equal((await gateway.app.inject({ url: '/api/keys', headers })).statusCode, 200);
});

t.test('sixty wrong keys of one network are 401, then 429 without a look-up; keys in use go on working', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(0);
  const remoteAddress = '198.51.100.7';
  const call = (headers: Headers, from = remoteAddress) =>
    app.inject({ url: '/api/keys', headers, remoteAddress: from });
  t.equal((await call(bearer)).statusCode, 200, 'now it is cached');
  const wrong = async () => (await call(bearerOf(newApiKey()))).statusCode;
  for (let i = 0; i < 60; i++) t.equal(await wrong(), 401);
  const refused = await call(bearerOf(newApiKey()));
  t.match([refused.statusCode, refused.json().code], [429, 'rate_limited']);
  t.ok(Number(refused.headers['retry-after']) > 0);
  const status = await app.inject({ url: '/api/polls/ps_x/status', headers: bearerOf(newApiKey()), remoteAddress });
  t.equal(status.statusCode, 429, 'on the path of status too');
  t.equal((await call(bearer)).statusCode, 200, 'a key in use behind the same address');
  t.equal((await call(bearerOf(newApiKey()), '203.0.113.9')).statusCode, 401, 'another network');
});

t.test('a dead key that is called all the time shuts out no valid key or token of its network', async (t) => {
  const gateway = await build(t);
  const { app, context, keyWith } = gateway;
  const remoteAddress = '198.51.100.7';
  const call = async (headers: Headers) => (await app.inject({ url: '/api/keys', headers, remoteAddress })).statusCode;
  const [known, ended, ...others] = await Promise.all(Array.from({ length: 30 }, () => keyWith(0)));
  // Once a key is out of the cache, it is looked up.
  const { redis, prefix } = context.bus;
  const forget = async () => redis.del('none', ...(await redis.keys(`${prefix}:key:*`)));
  for (const { bearer } of [known!, ended!]) t.equal(await call(bearer), 200);
  const dead = bearerOf(newApiKey());
  const statuses = [];
  for (let i = 0; i < 70; i++) statuses.push(await call(dead));
  t.equal(statuses.at(-1), 429);
  t.ok(statuses.filter((status) => status === 401).length <= 60);
  for (const { bearer } of others) t.equal(await call(bearer), 200, 'a key that no process has seen');
  await forget();
  t.equal(await call(known!.bearer), 200, 'a key in use');

  for (let i = 0; i < 60; i++) await call(bearerOf(newApiKey()));
  const fresh = (await keyWith(0)).bearer;
  t.equal(await call(fresh), 429, 'who sends ever other wrong keys uses up what is left to those never seen');
  await forget();
  t.equal(await call(known!.bearer), 200, 'not to keys in use');
  await gateway.asOwner(`update api_keys set revoked_at = now() where account_id = '${ended!.accountId}'`);
  t.equal(await call(ended!.bearer), 401);
  t.equal(await call(ended!.bearer), 429, 'nor is it in use afterwards');
});

t.test('a key or login that was ended while the body of its call was on the way is a 401', async (t) => {
  const { app, context, keyWith, sessionFor } = await build(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  let isFound = false;
  const { keys: cache, sealer } = context;
  const [find, open] = [cache.find.bind(cache), sealer.open.bind(sealer)];
  const noted = async <T>(found: Promise<T>): Promise<T> => found.finally(() => (isFound = true));
  t.intercept(cache, 'find', { value: (...args: Parameters<typeof find>) => noted(find(...args)) });
  t.intercept(sealer, 'open', { value: (cookie: string) => noted(open(cookie)) });
  const body = JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'] });
  for (const path of ['/api/polls', '/api/quick-poll', '/api/poll', '/api/keys']) {
    const { accountId, bearer } = await keyWith(10);
    const headers = path === '/api/poll' ? await sessionFor(accountId) : bearer;
    isFound = false;
    const status = await new Promise((resolve, reject) => {
      const call = send({ port, path, method: 'POST', headers: { ...headers, 'content-type': 'application/json' } });
      call.on('error', reject).on('response', (answer) => resolve(answer.resume().statusCode));
      call.write(body.slice(0, 1));
      eventually('it was authenticated', () => isFound)
        .then(() => revokeEverything(context, accountId))
        .then(() => call.end(path === '/api/keys' ? '}' : body.slice(1)), reject);
    });
    t.equal(status, 401, path);
    const open = context.storage.db.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
    t.same(await open.where('revoked_at', 'is', null).execute(), [], `${path} left no key`);
  }
});

t.test('a key or login that was ended after its call was authenticated makes no key', async (t) => {
  const { context, keyWith, sessionFor } = await build(t);
  const { db } = context.storage;
  for (const how of ['key', 'login']) {
    const { accountId } = await keyWith(10);
    if (how === 'login') await sessionFor(accountId);
    const ids = (table: 'api_keys' | 'logins') =>
      db.selectFrom(table).select('id').where('account_id', '=', accountId).executeTakeFirstOrThrow();
    const by = how === 'key' ? { keyId: (await ids('api_keys')).id } : { loginId: (await ids('logins')).id };
    const terms = { accountId, label: 'another' };
    t.equal((await createKey(context, terms, by)).isRepeat, false, how);
    await revokeEverything(context, accountId);
    await t.rejects(createKey(context, terms, by), { code: 'authentication_required' }, how);
    const active = db.selectFrom('api_keys').select('id').where('account_id', '=', accountId);
    t.same(await active.where('revoked_at', 'is', null).execute(), [], how);
  }
});
