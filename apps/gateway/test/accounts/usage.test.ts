import { checkLedger } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

const gateway = await build(t);
const { app, context } = gateway;
await standInWorker(t, context, { opinion: (_, { question }) => (question.includes('fails') ? null : 0) });

const { accountId, bearer } = await gateway.keyWith(5);
const session = await gateway.sessionFor(accountId);
const ask = (order: object, headers: object = bearer, url = '/api/poll') =>
  app.inject({
    method: 'POST',
    url,
    headers: { ...headers },
    payload: { question: 'Which of these is the best choice?', options: ['A', 'B'], ...order },
  });
const get = async (query: string, headers: object = bearer) =>
  (await app.inject({ url: `/api/usage${query}`, headers: { ...headers } })).json();

const labelled = await app.inject({
  method: 'POST',
  url: '/api/keys',
  headers: session,
  payload: { label: 'nightly, "big" jobs', limit_usd: 2, limit_reset: 'daily' },
});
const { id: nightly, key } = labelled.json();
const nightlyBearer = { authorization: `Bearer ${key}` };

await ask({ metadata: { customer: 'acme', run: '=1+1' } });
await ask({ preset: 'fast', metadata: { customer: 'acme' } }, nightlyBearer);
await ask({ question: 'Which model fails to answer this?' });
await ask({}, session);

t.test('usage adds up to what was charged, however it is grouped', async (t) => {
  const { statusCode, body } = await app.inject({ url: '/api/usage/balance', headers: bearer });
  t.equal(statusCode, 200);
  const { used_usd } = JSON.parse(body);
  for (const group_by of ['day', 'key', 'preset', 'surface']) {
    const usage = await get(`?group_by=${group_by}`);
    const sum = (name: string) =>
      usage.groups.reduce((sum: number, group: Record<string, number>) => sum + group[name]!, 0);
    t.match(usage, { group_by, total: { polls: 4, completed: 3, failed: 1, canceled: 0, cost_usd: used_usd } });
    t.equal(Math.round(sum('cost_usd') * 1e6), Math.round(used_usd * 1e6), group_by);
    t.equal(sum('polls'), 4);
    t.match(usage.previous, { polls: 0, cost_usd: 0, median_ms: null });
  }
  t.same(await checkLedger(context.storage), []);
});

t.test('groups have their names, and filters narrow them', async (t) => {
  const keys = (await get('?group_by=key')).groups;
  t.match(
    keys.find(({ group }: { group: string }) => group === nightly),
    { label: 'nightly, "big" jobs', polls: 1 },
  );
  t.match(
    keys.find(({ group }: { group: string }) => group === 'none'),
    { polls: 1, label: undefined },
    'the login',
  );
  t.match(await get('?group_by=metadata.customer'), {
    groups: [{ group: 'acme', polls: 2 }],
    total: { polls: 4 },
  });
  t.match((await get(`?key_id=${nightly}&group_by=preset`)).groups, [{ group: 'fast', polls: 1 }]);
  t.match(await get('?preset=fast'), { total: { polls: 1 } });
  t.match(await get('?surface=poll'), { total: { polls: 4 } });
  t.match(await get('?from=2020-01-01&to=2020-01-31'), {
    groups: { length: 0 },
    total: { polls: 0 },
    previous: { from: '2019-12-01', to: '2019-12-31' },
  });
  const stranger = await gateway.keyWith(0);
  t.match(await get(`?key_id=${nightly}`, stranger.bearer), { total: { polls: 0 } }, 'a key of others has no usage');
});

t.test('the same as a table', async (t) => {
  const answer = await app.inject({ url: '/api/usage?group_by=key&format=csv', headers: session });
  t.equal(answer.headers['content-type'], 'text/csv; charset=utf-8; header=present');
  const lines = answer.body.trimEnd().split('\r\n');
  t.equal(
    lines[0],
    'key,label,polls,completed,failed,canceled,split_or_partial,cost_usd,saved_usd,median_ms,median_cost_usd',
  );
  t.ok(lines.some((line) => line.startsWith(`${nightly},"nightly, ""big"" jobs",1,1,0,`)));
  t.match(lines.at(-1), /^total,,4,3,1,0,/);
  const headers = { ...bearer, accept: 'text/csv' };
  const byRun = await app.inject({ url: '/api/usage?group_by=metadata.run', headers });
  t.match(byRun.body, /^'=1\+1,,1,/m, 'no formula');
});

t.test('what cannot be answered is refused by name', async (t) => {
  for (const [query, detail] of [
    ['group_by=hour', /group_by/],
    ['group_by=metadata.', /group_by/],
    ['from=2026-02-30', /from/],
    ['to=0001-01-01', /to must not be before 2000-01-01/],
    ['to=0000-01-01', /to/],
    ['from=1999-12-31&to=2000-01-02', /from must not be before 2000-01-01/],
    ['from=2026-02-02&to=2026-02-01', /from must not be after to/],
    ['from=2020-01-01&to=2026-01-01', /at most 365 days/],
    ['group_by=metadata.customer&preset=fast', /do not go with metadata/],
    ['gruop_by=key', /gruop_by/],
  ] as const) {
    const { code, error } = await get(`?${query}`);
    t.equal(code, 'validation_error', query);
    t.match(error, detail, query);
  }
  const cut = await get(`?${encodeURIComponent(`${'a'.repeat(79)}\u{1F600}`)}=1`);
  t.ok(cut.error.includes('a\uFFFD'), 'a name that is cut is still text');
  t.equal((await get('?preset=other')).code, 'invalid_preset');
  t.equal((await app.inject('/api/usage')).statusCode, 401);
});

t.test('a key reads the balance and its own limit; its owner says when it is low', async (t) => {
  const balance = async (headers: object) =>
    (await app.inject({ url: '/api/usage/balance', headers: { ...headers } })).json();
  const { used_usd, available_usd, ...rest } = await balance(bearer);
  t.equal(Math.round((used_usd + available_usd) * 1e6), 5e6);
  t.same(rest, { reserved_usd: 0, low_balance_usd: null, is_low: false, key: null });
  t.match(await balance(nightlyBearer), { key: { limit_usd: 2, limit_reset: 'daily', held_usd: 0 } });
  const { key: own } = await balance(nightlyBearer);
  t.equal(Math.round((own.spent_usd + own.left_usd) * 1e6), 2e6);
  const put = (low_balance_usd: unknown) =>
    app.inject({ method: 'PUT', url: '/api/usage/low-balance', headers: bearer, payload: { low_balance_usd } });
  t.match((await put(4.5)).json(), { low_balance_usd: 4.5, is_low: false });
  t.match((await put(5)).json(), { low_balance_usd: 5, is_low: true });
  t.match((await put(null)).json(), { low_balance_usd: null, is_low: false });
  for (const amount of [0, -1, '5', undefined]) t.equal((await put(amount)).statusCode, 400);
});
