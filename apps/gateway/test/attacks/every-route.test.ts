import t from 'tap';
import { build } from '../fixtures/build.ts';
import type { Description } from './description.ts';
import { fullScale } from './full-scale.ts';

// slow: 3 s

// What must hold for every answer of every route, asked of all of them with and without credentials.

const { app, keyWith, sessionFor } = await build(t);
const { bearer, accountId } = await keyWith(10);
const { paths } = (await app.inject({ url: '/api/openapi.json' })).json() as Description;
const ORIGIN = 'https://elsewhere.example';

const routes = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { security = [] }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase() as 'GET' | 'POST' | 'DELETE',
    url: path.replace(/\{\w+\}/g, 'EP-2026-01-01-0123456789abcdef'),
    isPrivate: security.length > 0 && !security.some((way) => Object.keys(way).length === 0),
    cookieOnly: security.some((way) => 'session' in way) && !security.some((way) => 'apiKey' in way),
  })),
);

async function ask(route: (typeof routes)[number], headers: Record<string, string>) {
  const payload = route.method === 'POST' ? { payload: {} } : {};
  return app.inject({ method: route.method, url: route.url, headers: { origin: ORIGIN, ...headers }, ...payload });
}

/** What `Access-Control-Allow-Origin` may be: MCP answers pages of origins that are named in a setting, by default our own. */
function allowedOrigins({ cookieOnly, name }: { cookieOnly: boolean; name: string }): (string | undefined)[] {
  if (name.endsWith(' /api/mcp')) return [undefined, 'https://polls.example'];
  return [cookieOnly ? undefined : '*'];
}

t.test('headers that keep browsers out of trouble', async (t) => {
  t.ok(routes.length > 80);
  const problems = new Set<string>();
  // A cookie counts where its request comes from a page of ours, so it is shown without the other origin.
  const callers: Record<string, string>[] = [{}, bearer, await sessionFor(accountId)];
  for (const route of routes) {
    for (const caller of callers) {
      const { headers, statusCode } = await ask(route, caller);
      const what = `${route.name}: ${statusCode}`;
      const wrong = (problem: string) => problems.add(`${what}: ${problem}`);
      if (headers['x-content-type-options'] !== 'nosniff') wrong('may be sniffed');
      if (!/^(no-referrer|same-origin)$/.test(String(headers['referrer-policy'])))
        wrong('sends the referrer to other sites');
      if (!/max-age=\d{8}/.test(String(headers['strict-transport-security']))) wrong('no HSTS');
      if (headers.server ?? headers['x-powered-by']) wrong('names its server software');
      const policy = String(headers['content-security-policy']);
      if (!/default-src 'none'/.test(policy) || !/frame-ancestors 'none'/.test(policy)) wrong(`policy ${policy}`);
      if (/script-src[^;]*('unsafe-|\*|https?:)/.test(policy)) wrong(`scripts from anywhere: ${policy}`);
      if (headers['access-control-allow-credentials']) wrong('lets other origins use the cookie');
      const origin = headers['access-control-allow-origin'];
      if (!allowedOrigins(route).includes(origin)) wrong(`open to the origin ${origin}`);
      const kept = String(headers['cache-control']);
      if (route.isPrivate && !/no-store|private/.test(kept)) wrong(`may be kept by others: ${kept}`);
      if (statusCode >= 400 && kept !== 'no-store') wrong(`an error that may be kept: ${kept}`);
      if (/^text\//.test(String(headers['content-type'])) && !/charset=utf-8/.test(String(headers['content-type'])))
        wrong('a text without charset');
      for (const cookie of [headers['set-cookie'] ?? []].flat()) {
        for (const attribute of [/; HttpOnly/i, /; Secure/i, /; SameSite=(Lax|Strict)/i, /; Path=\//i]) {
          if (!attribute.test(cookie)) wrong(`a cookie without ${attribute.source}`);
        }
        if (/; Domain=/i.test(cookie)) wrong('a cookie for other hosts');
      }
    }
  }
  t.same([...problems], []);
});

t.test('no answer repeats who the caller says we are', async (t) => {
  const evil = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    forwarded: 'host=evil.example',
  };
  for (const route of routes) {
    const { body, headers } = await ask(route, { ...bearer, ...evil, 'x-machine-client': 'true' });
    if (`${body}${JSON.stringify(headers)}`.includes('evil.example')) t.fail(`${route.name} repeats it`);
  }
});

t.test('an undeclared method on any route: refused, and nothing changes', async (t) => {
  for (const method of (fullScale ? ['PUT', 'PATCH', 'TRACE', 'PROPFIND'] : ['PUT']) as ('PUT' | 'PATCH')[]) {
    for (const { url } of routes) {
      const { statusCode } = await app.inject({
        method: method as 'PUT',
        url,
        headers: { ...bearer, 'x-http-method-override': 'DELETE' },
      });
      if (statusCode < 400) t.fail(`${method} ${url}: ${statusCode}`);
    }
  }
});
