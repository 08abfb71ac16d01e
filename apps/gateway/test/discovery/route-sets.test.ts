import { ERRORS } from '@eloquentpoll/contracts';
import t from 'tap';
import { GUIDANCE } from '../../src/discovery/documents/operation-guidance.ts';
import { build } from '../fixtures/build.ts';
import { routesOf } from '../fixtures/routes.ts';

const { app, context } = await build(t);
const routes = await routesOf(context);
const openapi = (await app.inject({ url: '/api/openapi.json' })).json();
const answer = await app.inject({ url: '/api/routing-descriptions.json' });
const routing = answer.json();

interface Described {
  method: string;
  path: string;
  operationId: string;
  auth: string;
  'x-agent-hints': {
    cost: { free: boolean; min_usd: number; typical_usd: number; max_usd: number };
    latency: { p50_ms: number | null; p95_ms: number | null; streaming: boolean };
    usage: { when_to_use: string[]; idempotency_key: boolean };
    alternatives: string[];
    errors: string[];
  };
}

const described: Described[] = routing.routes;
const names = (list: { method: string; path: string }[]) => list.map(({ method, path }) => `${method} ${path}`).sort();
const operations = Object.entries<object>(openapi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
);

t.test(
  '[§4.7-openapi, §4.7-routing-descriptions] the router, OpenAPI and the descriptions know the same routes',
  (t) => {
    const hidden = routes.filter(({ hidden }) => hidden).map(({ path }) => path);
    t.same(
      hidden.filter(
        (path) =>
          !/^\/(api\/docs\/([a-z]+\.js|try)|assets\/\{version\}\/\{name\}|(logo|og|favicon|apple-touch-icon|icon-\d+)\.(svg|png|ico)|site\.webmanifest|result\/\{resultId\}\/(card\.png|events)|v1\/models\/\{owner\}\/\{name\}|(api\/docs|errors\/\{code\}|models|models\/\{model\}|trust|pricing|surfaces|connect|guides\/\{guide\}|result\/\{resultId\})\.md)$/.test(
            path,
          ),
      ),
      [],
      'only what pages load, their markdown, and the other form of a path is no operation',
    );
    t.same(names(operations), names(routes.filter(({ hidden }) => !hidden)));
    t.same(names(described), names(operations));
    const ids = described.map(({ operationId }) => operationId);
    t.equal(new Set(ids).size, ids.length, 'each has a name of its own');
    t.end();
  },
);

t.test('the hints are those of OpenAPI, and say something about every operation', (t) => {
  t.match(routing, { version: '1.0.0', base_url: 'https://polls.example' });
  const paths = new Set(operations.map(({ path }) => path));
  for (const route of described) {
    const name = `${route.method} ${route.path}`;
    const hints = route['x-agent-hints'];
    t.same(hints, openapi.paths[route.path][route.method.toLowerCase()]['x-agent-hints'], name);
    t.ok(hints.usage.when_to_use.every((text) => text.length > 10) && hints.usage.when_to_use.length > 0, name);
    t.ok(hints.errors.length > 0 && hints.errors.every((code) => code in ERRORS), name);
    t.ok(hints.cost.min_usd <= hints.cost.typical_usd && hints.cost.typical_usd <= hints.cost.max_usd, name);
    if (hints.latency.p50_ms !== null) t.ok(hints.latency.p50_ms <= (hints.latency.p95_ms ?? 0), name);
    for (const path of hints.alternatives) t.ok(paths.has(path), `${name} names ${path}`);
  }
  t.end();
});

t.test('advice is for operations that exist', (t) => {
  const unknown = Object.keys(GUIDANCE).filter((name) => !names(operations).includes(name));
  t.same(unknown, []);
  const plain = names(described.filter(({ path }) => path.startsWith('/api/'))).filter((name) => !(name in GUIDANCE));
  t.same(
    plain.filter(
      (name) => !/^GET \/api\/(docs|openapi\.json|routing-descriptions\.json|agent-card|mcp\/server-card)$/.test(name),
    ),
    [],
  );
  t.end();
});

t.test('who pays is said where it is so', async (t) => {
  const hintsOf = (name: string) => described.find(({ method, path }) => `${method} ${path}` === name)!;
  t.match(hintsOf('POST /api/poll'), {
    auth: 'session_or_bearer_optional',
    'x-agent-hints': { cost: { free: false } },
  });
  t.match(hintsOf('POST /api/quick-poll'), {
    auth: 'bearer_optional',
    'x-agent-hints': { cost: { free: true, typical_usd: 0 } },
  });
  for (const name of ['POST /api/batches', 'POST /api/polls', 'POST /api/mcp'])
    t.match(hintsOf(name)['x-agent-hints'].cost, { free: false, typical_usd: Number }, name);
  t.match(
    hintsOf('GET /api/polls')['x-agent-hints'].cost,
    { free: true, max_usd: 0 },
    'its path is that of a paid one',
  );
  // Free without a key, or at no cost whatever else the same form has done.
  const AT_NO_COST = /quick-poll|chat\/completions|dashboard\/batches\/(check$|\{)/;
  for (const { method, path, 'x-agent-hints': hints } of described)
    if (hints.errors.includes('insufficient_balance') && !AT_NO_COST.test(path))
      t.equal(hints.cost.free, false, `${method} ${path} may be refused for want of money`);
  t.match(hintsOf('GET /api/health'), { auth: 'none', 'x-agent-hints': { latency: { p50_ms: null } } });
  t.match(hintsOf('GET /api/balance').auth, 'session');
  const estimate = (await app.inject({ url: '/api/poll/estimate' })).json();
  const { cost, usage } = hintsOf('POST /api/poll')['x-agent-hints'];
  t.equal(cost.typical_usd, estimate.cost_usd.expected, 'the figure is the one of the estimate');
  t.equal(usage.idempotency_key, true);
});
