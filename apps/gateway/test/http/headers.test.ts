import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 4 s

const { app } = await build(t);

t.test('every answer carries the headers that keep browsers out of trouble', async (t) => {
  for (const url of ['/api/health', '/api/nothing', '/api/openapi.json', '/api/docs', '/api/%zz']) {
    const { headers } = await app.inject({ url });
    t.equal(headers['x-content-type-options'], 'nosniff', url);
    t.equal(headers['referrer-policy'], 'no-referrer', url);
    t.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/, url);
    t.match(String(headers['strict-transport-security']), /max-age=\d{8}/, url);
    t.match(String(headers['x-request-id']), /^req_[0-9a-f]{24}$/, url);
    t.ok(headers['cache-control'], url);
    t.notOk(headers['x-powered-by'] ?? headers.server, url);
  }
  const local = await build(t, { baseUrl: 'http://localhost:8080' });
  t.notOk((await local.app.inject({ url: '/api/health' })).headers['strict-transport-security'], 'no HSTS over http');
});

t.test('a sane id of the caller is kept, any other is replaced', async (t) => {
  const idFor = async (id: string) =>
    (await app.inject({ url: '/api/health', headers: { 'x-request-id': id } })).headers['x-request-id'];
  t.equal(await idFor('trace-0123.abc'), 'trace-0123.abc');
  for (const id of ['short', 'x'.repeat(65), 'white space', 'semi;colon', '<script>', 'ünïcode1'])
    t.match(String(await idFor(id)), /^req_/, id);
});

t.test('pages of any origin may call, without credentials', async (t) => {
  const origin = 'https://elsewhere.example';
  const answer = await app.inject({ url: '/api/health', headers: { origin } });
  t.equal(answer.headers['access-control-allow-origin'], '*');
  t.match(String(answer.headers['access-control-expose-headers']), /RateLimit-Limit.*Retry-After.*WWW-Authenticate/);
  t.notOk(answer.headers['access-control-allow-credentials']);

  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/api/poll',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  });
  t.equal(preflight.statusCode, 204);
  t.equal(preflight.headers['access-control-allow-methods'], 'OPTIONS, POST');
  t.match(String(preflight.headers['access-control-allow-headers']), /Authorization.*Idempotency-Key/);
  t.equal((await app.inject({ method: 'OPTIONS', url: '/api/nothing' })).statusCode, 404);
});

t.test('HEAD answers like GET, without a body', async (t) => {
  const head = await app.inject({ method: 'HEAD', url: '/api/openapi.json' });
  t.equal(head.statusCode, 200);
  t.equal(head.body, '');
});

t.test('links never follow the Host header', async (t) => {
  const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
  for (const url of ['/api/health', '/api/openapi.json', '/api/docs', '/api/nothing', '/api/poll']) {
    const answer = await app.inject({ url, headers: { ...evil, 'x-machine-client': 'true' } });
    t.notMatch(answer.body + JSON.stringify(answer.headers), /evil/, url);
  }
});

t.test(
  'a page of another origin may pay as the x402 client does, and reads what the clients of chat go by',
  async (t) => {
    const asked = 'payment-signature,access-control-expose-headers,content-type';
    const origin = 'https://elsewhere.example';
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/api/deposit',
      headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    });
    const accepted = String(preflight.headers['access-control-allow-headers']).toLowerCase().split(', ');
    for (const name of asked.split(',')) t.ok(accepted.includes(name), name);
    const { headers } = await app.inject({ url: '/v1/models', headers: { origin } });
    t.ok(String(headers['access-control-expose-headers']).split(', ').includes('x-should-retry'));
  },
);
