import t from 'tap';
import { build } from '../fixtures/build.ts';
import { routesOf } from '../fixtures/routes.ts';

// slow: 3 s

const { app, context } = await build(t);
const BASE = context.config.baseUrl;

const DOCUMENTS = [
  '/',
  '/?view=human',
  '/robots.txt',
  '/sitemap.xml',
  '/llms.txt',
  '/llms-full.txt',
  '/asyncapi.json',
  '/.well-known/ai-plugin.json',
  '/.well-known/api-catalog',
  '/.well-known/agent-skills/index.json',
  '/.well-known/agent-skills/prevent-hallucinations-with-a-quick-poll/SKILL.md',
  '/.well-known/oauth-protected-resource',
  '/.well-known/mcp/server-card.json',
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/~/AGENTS.md',
  '/~/SKILLS.md',
  '/api/agent-card',
  '/api/routing-descriptions.json',
  '/api/surfaces',
  '/api/errors/catalog',
  '/api/examples',
  '/api/examples/curl',
  '/api/examples/typescript',
  '/api/examples/python',
  '/api/examples/mcp-config',
  '/api/graph/node-spec',
  '/api/intents',
  '/api/profiles',
];

/** Need more than their address: a login, an identity provider, or an id that the document made up. */
const CONDITIONAL = [
  /^\/api\/auth\/(login|callback|logout)$/,
  /^\/api\/(keys|polls|batches)$/,
  /^\/api\/(wallet\/challenge|deposit)$/,
  /^\/\.well-known\/openid-configuration$/,
  /^(\/api\/results|\/result)\/EP-/,
];

t.test('every address in a document of ours answers, or takes another method', async (t) => {
  const addresses = new Map<string, string>();
  for (const url of DOCUMENTS) {
    const { body, headers, statusCode } = await app.inject({ url });
    t.equal(statusCode, 200, url);
    const text = body.replace(/&(?:quot|#39);/g, '"').replaceAll('&amp;', '&') + JSON.stringify(headers);
    for (const [address] of text.matchAll(/https:\/\/polls\.example[^\s"'<>)\\`,;]*/g))
      addresses.set(address.slice(BASE.length).replace(/[.:]$/, '').split('#')[0] || '/', url);
    for (const [, path] of text.matchAll(/(?:href|src)="(\/[^"#]*)/g)) addresses.set(path!, url);
  }
  t.ok(addresses.size > 40, `${addresses.size} addresses`);
  for (const [address, source] of addresses) {
    if (CONDITIONAL.some((pattern) => pattern.test(address))) continue;
    const answer = await app.inject({ url: address });
    if (answer.statusCode !== 405) t.ok(answer.statusCode < 400, `${address}, in ${source}: ${answer.statusCode}`);
    else t.equal((await app.inject({ method: 'OPTIONS', url: address })).statusCode, 204, address);
  }
});

t.test('what needs more than its address is there all the same', async (t) => {
  const paths = (await routesOf(context)).map(({ path }) => path);
  for (const path of [
    '/api/auth/login',
    '/api/keys',
    '/api/polls',
    '/api/batches',
    '/api/wallet/challenge',
    '/api/deposit',
    '/.well-known/openid-configuration',
  ])
    t.ok(paths.includes(path), path);
});

t.test('no GET repeats who the caller says we are', async (t) => {
  const samples: Record<string, string> = { language: 'curl', code: 'not_found' };
  const lies = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'evil',
    'x-forwarded-for': 'evil.example',
    forwarded: 'host=evil.example;proto=evil',
    'x-original-url': '/evil',
    origin: 'https://evil.example',
    referer: 'https://evil.example/',
  };
  const paths = (await routesOf(context)).filter(({ method }) => method === 'GET').map(({ path }) => path);
  t.ok(paths.length >= 40, `${paths.length} routes`);
  for (const path of paths) {
    const url = path.replace(/\{(\w+)\}/g, (_match, name) => samples[name] ?? 'ps_nothing').replace('*', 'x');
    for (const accept of ['*/*', 'text/markdown', 'application/problem+json']) {
      const answer = await app.inject({ url, headers: { ...lies, accept } });
      t.notMatch(answer.body + JSON.stringify(answer.headers), /evil/, `${url} as ${accept}`);
    }
  }
});
