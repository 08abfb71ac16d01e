import t from 'tap';
import { AI_AGENTS } from '../../src/discovery/documents/robots.ts';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);
const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const BASE = 'https://polls.example';

const DOCUMENTS: Record<string, string> = {
  '/.well-known/ai-plugin.json': 'application/json',
  '/.well-known/api-catalog': 'application/linkset+json',
  '/.well-known/agent-skills/index.json': 'application/json',
  '/.well-known/oauth-protected-resource': 'application/json',
  '/.well-known/mcp/server-card.json': 'application/json',
  '/.well-known/agent-card.json': 'application/json',
  '/robots.txt': 'text/plain',
  '/sitemap.xml': 'application/xml',
  '/llms.txt': 'text/plain',
  '/llms-full.txt': 'text/plain',
  '/asyncapi.json': 'application/json',
  '/api/openapi.json': 'application/json',
  '/api/routing-descriptions.json': 'application/json',
  '/api/surfaces': 'application/json',
  '/api/examples': 'application/json',
  '/api/examples/curl': 'text/plain',
  '/api/examples/mcp-config': 'application/json',
  '/api/errors/catalog': 'application/json',
  '/~/AGENTS.md': 'text/markdown',
  '/': 'text/html',
};

t.test(
  '[§4.7-get-no-auth, §8-content-signal, §1-support-discovery] every document is open, cacheable, tagged, and has a HEAD',
  async (t) => {
    for (const [url, type] of Object.entries(DOCUMENTS)) {
      const answer = await get(url, { origin: 'https://elsewhere.example' });
      t.equal(answer.statusCode, 200, url);
      t.equal(String(answer.headers['content-type']).split(';')[0], type, url);
      t.match(String(answer.headers['cache-control']), /^public, max-age=\d+$/, url);
      t.equal(answer.headers['access-control-allow-origin'], '*', url);
      t.notOk(answer.headers['access-control-allow-credentials'] ?? answer.headers['set-cookie'], url);
      t.equal(answer.headers['content-signal'], 'search=yes, ai-input=yes, ai-train=no', url);
      t.match(String(answer.headers.etag), /^"[\w-]{22}"$/, url);

      const head = await app.inject({ method: 'HEAD', url });
      t.equal(head.statusCode, 200, `HEAD ${url}`);
      t.equal(head.body, '');
      for (const name of ['content-type', 'etag', 'cache-control', 'content-length', 'link'])
        t.equal(head.headers[name], answer.headers[name], `HEAD ${url} ${name}`);

      const again = await get(url, { 'if-none-match': `W/${answer.headers.etag}` });
      t.match([again.statusCode, again.body, again.headers.etag], [304, '', answer.headers.etag], url);
      t.equal((await get(url)).body, answer.body, 'the same every time');
      const preflight = await app.inject({ method: 'OPTIONS', url, headers: { origin: 'https://elsewhere.example' } });
      t.equal(preflight.statusCode, 204, `OPTIONS ${url}`);
      t.equal((await app.inject({ method: 'POST', url, payload: {} })).statusCode, 405, `POST ${url}`);
    }
  },
);

t.test('[§4.7-ai-plugin] the plugin manifest keeps the limits of its format', async (t) => {
  const manifest = (await get('/.well-known/ai-plugin.json')).json();
  t.match(manifest, {
    schema_version: 'v1',
    auth: { type: 'user_http', authorization_type: 'bearer' },
    api: { type: 'openapi', url: `${BASE}/api/openapi.json` },
    contact_email: 'support@polls.example',
  });
  t.ok(manifest.name_for_human.length <= 20);
  t.match(manifest.name_for_model, /^\w{1,50}$/);
  t.ok(manifest.description_for_human.length <= 100);
  t.ok(manifest.description_for_model.length <= 8_000);
});

t.test('[§4.7-api-catalog, §4.7-api-catalog-links] the catalogue is a linkset that leads to each API', async (t) => {
  const answer = await get('/.well-known/api-catalog', { accept: 'application/linkset+json' });
  t.match(answer.headers['content-type'], 'profile="https://www.rfc-editor.org/info/rfc9727"');
  const { linkset } = answer.json();
  const catalog = linkset.find(({ anchor }: { anchor: string }) => anchor === `${BASE}/.well-known/api-catalog`);
  const items = catalog.item.map(({ href }: { href: string }) => href);
  t.ok(items.length > 0);
  for (const item of items) {
    const api = linkset.find(({ anchor }: { anchor: string }) => anchor === item);
    for (const rel of ['service-desc', 'service-doc', 'status'])
      for (const { href, type } of api[rel]) t.ok(href.startsWith(BASE) && type, `${item} ${rel}`);
  }
  const { link } = (await app.inject({ method: 'HEAD', url: '/.well-known/api-catalog' })).headers;
  t.match(link, '</.well-known/api-catalog>; rel="api-catalog"');
  for (const item of items) t.match(link, `<${item.slice(BASE.length)}>; rel="item"`);
});

t.test('[§4.7-robots] each group of robots.txt says everything', async (t) => {
  const text = (await get('/robots.txt')).body;
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const groups: { agents: string[]; rules: string[] }[] = [];
  for (const line of lines) {
    const [field = '', value = ''] = line.split(/: (.*)/s);
    const group = groups.at(-1);
    if (field === 'User-agent') {
      if (group && group.rules.length === 0) group.agents.push(value);
      else groups.push({ agents: [value], rules: [] });
    } else if (field !== 'Sitemap') group?.rules.push(line);
  }
  t.same(groups.flatMap(({ agents }) => agents).toSorted(), ['*', ...AI_AGENTS].toSorted());
  for (const agent of ['GPTBot', 'ClaudeBot', 'Google-Extended', 'PerplexityBot', 'CCBot'])
    t.ok(AI_AGENTS.includes(agent), agent);
  const { headers } = await get('/robots.txt');
  for (const { rules } of groups) {
    t.ok(rules.includes(`Content-Signal: ${headers['content-signal']}`), 'the same as in the header');
    t.ok(rules.includes('Disallow: /dashboard') && rules.includes('Disallow: /api/auth/'));
  }
  t.match(text, `\nSitemap: ${BASE}/sitemap.xml\n`);
});

t.test('[§8-content-signal] the operator decides what the content may be used for', async (t) => {
  const other = await build(t, { contentSignal: 'ai-train=yes, search=no' });
  const answer = await other.app.inject({ url: '/robots.txt' });
  t.equal(answer.headers['content-signal'], 'ai-train=yes, search=no');
  t.match(answer.body, '\nContent-Signal: ai-train=yes, search=no\n');
  t.notMatch(answer.body, 'ai-train=no');
});

t.test('[§4.7-sitemap] the sitemap lists pages that exist', async (t) => {
  const { body } = await get('/sitemap.xml');
  t.match(
    body,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<urlset xmlns="http:\/\/www\.sitemaps\.org\/schemas\/sitemap\/0\.9">/,
  );
  const locations = [...body.matchAll(/<url><loc>([^<&]+)<\/loc><\/url>/g)].map(([, location]) => location!);
  t.equal(body.match(/<url>/g)?.length, locations.length);
  t.ok(locations.includes(`${BASE}/`));
  for (const location of locations) t.equal((await get(location.slice(BASE.length))).statusCode, 200, location);
});

t.test(
  '[§4.7-llms, §4.7-llms-full] the overview has the form of llmstxt.org, and the long one all of it',
  async (t) => {
    const short = (await get('/llms.txt')).body;
    const [intro = '', ...sections] = short.split(/^## /m);
    t.match(intro, /^# EloquentPoll\n\n> .+\n\n/);
    t.notMatch(intro.slice(2), /^#+ /m, 'no headings before the lists');
    t.ok(sections.length > 1 && sections.at(-1)?.startsWith('Optional\n'));
    for (const section of sections)
      for (const line of section.trim().split('\n').slice(2))
        t.match(line, /^- \[[^\]]+\]\(https:\/\/polls\.example\/[^)]*\): .+$/);
    const long = (await get('/llms-full.txt')).body;
    const openapi = (await get('/api/openapi.json')).json();
    for (const [path, methods] of Object.entries<Record<string, { tags: string[] }>>(openapi.paths))
      for (const [method, { tags }] of Object.entries(methods))
        if (!tags.includes('Files')) t.ok(long.includes(`\`${method.toUpperCase()} ${path}\``), path);
    for (const { code } of (await get('/api/errors/catalog')).json().errors) t.ok(long.includes(`\`${code}\``), code);
  },
);

t.test('texts say what polls cost by the panel that votes, and when models are simulated', async (t) => {
  const { cost_usd } = (await get('/api/poll/estimate')).json();
  const typical = `$${Number(cost_usd.expected.toPrecision(2))}`;
  const texts = ['/llms.txt', '/~/.claude/skills/prevent-hallucinations-with-a-quick-poll.md', '/', '/?view=human'];
  for (const url of texts) {
    const { body } = await get(url);
    t.match(body, typical, url);
    t.match(body, /simulated/i, url);
    t.match(body, /not the probability that the winner is true/, url);
  }
  const real = await build(t, { models: { file: 'openrouter' } });
  for (const url of texts) t.notMatch((await real.app.inject({ url })).body, /simulated/i, url);
});
