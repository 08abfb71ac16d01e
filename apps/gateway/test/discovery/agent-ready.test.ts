import t from 'tap';
import { build } from '../fixtures/build.ts';

// The rules by which scanners of agent readiness judge a site, one by one. The metadata of the identity provider, which
// needs one, is judged where logins are. Two rules are not met and not faked: we sign no requests of our own, and what
// costs is paid at POST /api/deposit, not by reading a page.

const { app } = await build(t);
const get = (url: string, accept = '*/*') => app.inject({ url, headers: { accept } });
const typeOf = (answer: Awaited<ReturnType<typeof get>>) => String(answer.headers['content-type']).split(';')[0];

t.test('robots.txt: text, user agents, AI agents by name, content signals', async (t) => {
  const robots = await get('/robots.txt');
  t.match([robots.statusCode, typeOf(robots)], [200, 'text/plain']);
  t.match(robots.body, /^User-agent: \*$/m);
  t.match(robots.body, /^User-agent: (GPTBot|ClaudeBot|PerplexityBot)$/m);
  t.match(robots.body, /^Content-Signal: .*\b(ai-train|search|ai-input)=(yes|no)/m);
});

t.test('sitemap: named in robots.txt, valid', async (t) => {
  const [, location = ''] = /^Sitemap: (.+)$/m.exec((await get('/robots.txt')).body) ?? [];
  const sitemap = await get(new URL(location).pathname);
  t.equal(sitemap.statusCode, 200);
  t.match(sitemap.body, /^<\?xml[\s\S]*<urlset[\s\S]*<loc>https:\/\/[\s\S]*<\/urlset>\s*$/);
});

t.test('homepage: Link headers and markdown', async (t) => {
  const home = await get('/');
  t.match(home.headers.link, /rel="(api-catalog|service-doc|service-desc|describedby)"/);
  t.equal(typeOf(await get('/', 'text/markdown')), 'text/markdown');
});

t.test('API catalogue', async (t) => {
  const catalog = await get('/.well-known/api-catalog', 'application/linkset+json');
  t.match([catalog.statusCode, typeOf(catalog)], [200, 'application/linkset+json']);
  t.ok(catalog.json().linkset.length > 0);
});

t.test('protected resource', async (t) => {
  t.equal((await get('/.well-known/oauth-protected-resource')).json().resource, 'https://polls.example');
});

t.test('MCP server card', async (t) => {
  const card = (await get('/.well-known/mcp/server-card.json')).json();
  t.ok(card.serverInfo?.name ?? card.name);
  t.ok(card.serverInfo?.version ?? card.version);
  t.type(card.endpoint, 'string');
});

t.test('agent card', async (t) => {
  const card = (await get('/.well-known/agent-card.json')).json();
  t.ok(card.name && card.version && card.skills.length > 0);
});

t.test('agent skills: the first three resolve', async (t) => {
  const { skills } = (await get('/.well-known/agent-skills/index.json')).json();
  t.ok(skills.length > 0);
  for (const { url } of skills.slice(0, 3)) t.equal((await get(url)).statusCode, 200, url);
});

t.test('WebMCP: a script of the page registers a tool', async (t) => {
  const scripts = [...(await get('/')).body.matchAll(/<script src="([^"]+)"/g)].map(([, path]) => path!);
  const code = await Promise.all(scripts.map(async (path) => (await get(path)).body));
  for (const name of ['document', 'navigator']) t.match(code.join('\n'), `${name}.modelContext.registerTool(`);
});

t.test('files at fixed addresses: security.txt, auth.md, AGENTS.md, catalogues, favicon', async (t) => {
  const security = await get('/.well-known/security.txt');
  t.equal(typeOf(security), 'text/plain');
  t.match(security.body, /^Contact: mailto:\S+@\S+$/m);
  const expires = Date.parse(/^Expires: (.+)$/m.exec(security.body)?.[1] ?? '');
  t.ok(expires > Date.now() + 30 * 86_400_000 && expires < Date.now() + 365 * 86_400_000, 'within a year (RFC 9116)');

  const auth = await get('/auth.md');
  t.equal(typeOf(auth), 'text/markdown');
  t.match(auth.body, /^# .*auth\.md/);
  for (const [, method, path] of auth.body.matchAll(/`(GET|POST|DELETE) https:\/\/polls\.example([^?`]*)/g)) {
    const url = path!.replace('{keyId}', '0b8f2f0c-0000-4000-8000-000000000000');
    const answer = await app.inject({ method: method as 'GET', url });
    t.notOk([404, 405].includes(answer.statusCode), `${method} ${url}: ${answer.statusCode}`);
  }

  t.equal((await get('/AGENTS.md')).body, (await get('/~/AGENTS.md')).body);
  t.equal((await get('/favicon.ico')).statusCode, 200);
  t.same((await get('/.well-known/mcp.json')).json(), (await get('/.well-known/mcp/server-card.json')).json());
  const { specVersion, entries } = (await get('/.well-known/ai-catalog.json')).json();
  t.equal(specVersion, '1.0');
  for (const { url } of entries) t.equal((await get(new URL(url).pathname)).statusCode, 200, url);
});
