import type { ServerResponse } from 'node:http';
import { openRegistry } from '@eloquentpoll/models/registry';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { fakeRegistry, REGISTRY_ROWS } from '@eloquentpoll/testkit/fakes/registry';
import t, { type Test } from 'tap';
import { createLog } from '../../src/config/log.ts';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { modelCountOf } from '../../src/discovery/registry/model-count.ts';
import { modelListings } from '../../src/discovery/registry/model-listings.ts';
import { build } from '../fixtures/build.ts';

// slow: 5 s

// GET /api/models: what the registry says, asked as seldom as possible, and nothing that another source injected.

const HOUR_MS = 3_600_000;

async function withRegistry(t: Test) {
  const registry = await fakeRegistry(t);
  const gateway = await build(t, {
    models: { file: 'simulator', registryUrl: registry.url },
    rateLimits: readPolicies('read=100000/60'),
  });
  const get = (query = '') => gateway.app.inject({ url: `/api/models${query}` });
  return { ...gateway, registry, get };
}

t.test(
  '[§4.7-models-200, §2.14-fetched-at, §2.14-cache-expires-at, §2.14-count, §2.14-model-count-upstream, §2.14-variants, §1-support-models] the envelope',
  async (t) => {
    const { get, app } = await withRegistry(t);
    const answer = await get();
    t.equal(answer.statusCode, 200);
    const { fetched_at, cache_expires_at, ...rest } = answer.json();
    t.same(rest, { count: 3, model_count: 7, variants: REGISTRY_ROWS });
    t.equal(Date.parse(cache_expires_at) - Date.parse(fetched_at), HOUR_MS, '[§8-models-cache]');
    t.ok(Math.abs(Date.now() - Date.parse(fetched_at)) < 60_000);
    t.match(String(answer.headers['cache-control']), /^public, max-age=3(600|5\d\d)$/);
    const headers = { 'if-none-match': String(answer.headers.etag) };
    t.equal((await app.inject({ url: '/api/models', headers })).statusCode, 304);
  },
);

const PARAMETERS = {
  limit: '2',
  available_only: 'true',
  org: 'a&b=c#d @evil.example/%0d%0aX:1',
  country: 'FR',
  source: 'cloud',
  config_key: 'x_y',
  is_alias: 'false',
  one_per_model: '1',
  sort: '-id',
};

t.test(
  '[§4.7-models-limit, §4.7-models-available-only, §4.7-models-org, §4.7-models-country, §4.7-models-source, §4.7-models-config-key, §4.7-models-is-alias, §4.7-models-one-per-model, §4.7-models-sort] what is allowed goes upstream as it is',
  async (t) => {
    const { get, registry } = await withRegistry(t);
    t.equal((await get(`?${new URLSearchParams(PARAMETERS)}`)).statusCode, 200);
    t.equal(registry.calls.length, 1);
    const { pathname, searchParams } = new URL(registry.calls[0]!, 'http://registry');
    t.equal(pathname, '/registry');
    t.same(Object.fromEntries(searchParams), PARAMETERS);
  },
);

t.test(
  '[§4.7-models-only-allowed-query] nothing else of a request reaches the registry or makes a second listing',
  async (t) => {
    const { app, get, registry } = await withRegistry(t);
    const first = (await get('?org=acorn&limit=2')).body;
    for (const query of [
      '?limit=2&org=acorn',
      '?limit=02&org=acorn',
      '?org=acorn&limit=2&evil=1',
      '?org=acorn&limit=2&Org=birch&LIMIT=9&org[]=birch&page=5',
      '?constructor=1&org=acorn&x=1&x=2&limit=2&toString=3',
    ])
      t.equal((await get(query)).body, first, query);
    for (const headers of [
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example' },
      { 'x-original-url': '/api/models?org=birch' },
      { accept: 'text/html' },
    ])
      t.equal((await app.inject({ url: '/api/models?limit=2&org=acorn', headers })).body, first);
    t.same(registry.calls, ['/registry?limit=2&org=acorn']);
    await get('?limit=2&org=Acorn');
    for (const limit of ['100000', '1e9', '99999999999999999999']) await get(`?limit=${limit}&org=Acorn`);
    t.same(registry.calls.slice(-1), ['/registry?limit=10000&org=Acorn'], 'a higher limit is the highest');
    t.equal(registry.calls.length, 3, 'another value is another listing');
  },
);

t.test('values that cannot be are refused and never sent', async (t) => {
  const { get, registry } = await withRegistry(t);
  for (const query of [
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=many',
    'limit=',
    'limit=1&limit=2',
    'org=a&org=b',
    'org=',
    `org=${'x'.repeat(101)}`,
    'org=a%0d%0aX-Evil:1',
    'sort=%00',
  ]) {
    const answer = await get(`?${query}`);
    t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], query);
  }
  t.same(registry.calls, []);
});

t.test('[§4.7-models-cache] a thousand who wait are one call upstream, and those who come later none', async (t) => {
  const { get, registry } = await withRegistry(t);
  const waiting = Promise.withResolvers<void>();
  registry.answer(async (response) => {
    await waiting.promise;
    response.end(JSON.stringify({ variants: REGISTRY_ROWS }));
  });
  const crowd = Promise.all(Array.from({ length: 1_000 }, () => get('?org=acorn')));
  await eventually('the registry is called', () => registry.calls.length > 0);
  waiting.resolve();
  const answers = await crowd;
  t.ok(answers.every((answer) => answer.statusCode === 200 && answer.body === answers[0]!.body));
  await get('?org=acorn');
  t.equal(registry.calls.length, 1);
});

t.test('values that no row has ask the registry once, and evict nothing that serves an outage', async (t) => {
  const { get, registry } = await withRegistry(t);
  registry.answer((response: ServerResponse) => {
    const { searchParams } = new URL(registry.calls.at(-1)!, 'http://registry');
    const variants = REGISTRY_ROWS.filter(({ org }) => !searchParams.has('org') || org === searchParams.get('org'));
    response.end(JSON.stringify({ variants }));
  });
  t.equal((await get('?org=none')).json().count, 0);
  await eventually('the whole listing is known', () => registry.calls.length === 2);
  const { body } = await get();
  for (let i = 0; i < 300; i++) {
    const { count, model_count, variants } = (await get(`?org=none${i}`)).json();
    t.same([count, model_count, variants], [0, 0, []]);
  }
  t.same(registry.calls, ['/registry?org=none', '/registry']);
  t.equal((await get('?org=acorn')).json().count, 2, 'a value that there is goes upstream');
  for (let i = 1; i <= 250; i++) await get(`?limit=${i}`);
  registry.answer(html);
  const calls = registry.calls.length;
  t.equal((await get()).body, body);
  t.equal(registry.calls.length, calls, 'still kept, although 250 others were loaded since');
});

t.test('[§4.7-models-503, §7-503-registry] without a registry', async (t) => {
  const { app } = await build(t);
  const answer = await app.inject({ url: '/api/models' });
  t.match([answer.statusCode, answer.json().code], [503, 'registry_not_configured']);
});

const html = (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>SECRET');

t.test(
  '[§4.7-models-502, §7-502-registry] its errors become one 502 that reveals nothing and is not cached',
  async (t) => {
    const { get, registry, log } = await withRegistry(t);
    for (const reply of [
      html,
      { error: 'SECRET' },
      { variants: ['SECRET'] },
      { variants: [], model_count: 'SECRET' },
      (response: ServerResponse) => void response.writeHead(404).end('SECRET'),
      (response: ServerResponse) => void response.writeHead(307, { location: '/SECRET' }).end(),
      (response: ServerResponse) => void response.destroy(),
      (response: ServerResponse) => void response.end(JSON.stringify({ variants: [{ x: 'SECRET'.repeat(400_000) }] })),
    ]) {
      registry.answer(reply);
      const answer = await get();
      t.match([answer.statusCode, answer.json().code], [502, 'upstream_registry_error']);
      t.notMatch(answer.body, /SECRET/);
      t.equal(answer.headers['cache-control'], 'no-store');
    }
    t.equal(registry.calls.length, 8, 'each was asked for anew, and no redirect was followed');
    t.notMatch(log.join('\n'), /SECRET/);
    registry.answer({ variants: REGISTRY_ROWS });
    t.equal((await get()).statusCode, 200);
  },
);

t.test('after an hour it is asked again; while it is away the old listing serves, for a day', async (t) => {
  const registry = await fakeRegistry(t);
  const { context } = await build(t);
  const client = openRegistry(registry.url);
  t.teardown(() => client[Symbol.asyncDispose]());
  let now = Date.UTC(2026, 10, 20);
  const list = modelListings(client, createLog(context.config, { write: () => {} }), () => now);
  const first = await list({});
  now += HOUR_MS - 1;
  t.equal((await list({})).value, first.value);
  t.equal(registry.calls.length, 1);

  now += 1;
  registry.answer(html);
  t.equal((await list({})).value, first.value, 'away');
  t.equal(registry.calls.length, 2);
  t.equal((await list({})).value, first.value);
  t.equal(registry.calls.length, 2, 'and left in peace for a while');

  now += 60_000;
  registry.answer({ variants: REGISTRY_ROWS });
  const second = JSON.parse((await list({})).value);
  t.equal(second.fetched_at, new Date(now).toISOString(), 'back');
  t.equal(registry.calls.length, 3);

  registry.answer(html);
  now += 24 * HOUR_MS - 1;
  t.equal(JSON.parse((await list({})).value).fetched_at, second.fetched_at);
  now += 1;
  await t.rejects(list({}), { code: 'upstream_registry_error' });
});

t.test('[§2.14-model-count-inferred, §2.14-model-count-null] how many models there are', async (t) => {
  const variants = REGISTRY_ROWS;
  const known = (more: object, limit: number | null = null, rows: Record<string, unknown>[] = variants) =>
    modelCountOf({ variants: rows, modelCount: null, count: null, ...more }, limit);
  t.equal(known({ modelCount: 9 }), 9, 'as the registry says');
  t.equal(known({ modelCount: 0 }, 3), 0);
  t.equal(known({}), 2, 'distinct models of a complete list');
  t.equal(known({ count: 3 }, 4), 2);
  t.equal(known({}, 3), null, 'a limit may have cut it short');
  t.equal(known({ count: 4 }), null, 'the registry holds some back');
  t.equal(known({}, null, [{ model: 'a' }, { id: 'b' }]), null, 'a row that names no model');
  t.equal(known({}, null, []), 0);

  const { get, registry } = await withRegistry(t);
  registry.answer({ variants: REGISTRY_ROWS });
  t.equal((await get()).json().model_count, 2);
  t.equal((await get('?limit=3')).json().model_count, null);
});
