import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import t, { type Test } from 'tap';
import { LOCAL_EMAIL } from '../src/people.ts';
import { startLocalProvider } from '../src/server.ts';

// slow: 3 s

// The local identity provider as a person with a browser meets it, and as a client that asks for tokens.

const BASE = 'http://localhost:4999';
const SECRET = 'a client secret of at least 32 characters';

async function provider(t: Test, folder = t.testdir()) {
  const running = await startLocalProvider({ folder, baseUrl: BASE, clientSecret: SECRET });
  let stopped = false;
  const stop = async () => {
    if (!stopped) await running.stop();
    stopped = true;
  };
  t.teardown(stop);
  return { ...running, folder, stop };
}

/** Follows redirects until a page, or until one leads away from the provider. */
function browser(issuer: string) {
  const jar = new Map<string, string>();
  async function open(
    url: string,
    form?: Record<string, string>,
  ): Promise<{ url: string; page: string; policy: string }> {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map((pair) => pair.join('=')).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const next = answer.headers.get('location');
    const page = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    if (next === null) return { url, page, policy };
    const target = new URL(next, url).href;
    return target.startsWith(issuer) ? open(target) : { url: target, page: '', policy };
  }
  return { open };
}

interface Client {
  id: string;
  secret: string;
  redirectUri: string;
}
const PRODUCT: Client = { id: 'eloquentpoll', secret: SECRET, redirectUri: `${BASE}/api/auth/callback` };

function authorization(issuer: string, client: Client, more: Record<string, string> = {}) {
  const verifier = randomBytes(32).toString('base64url');
  const url = `${issuer}/auth?${new URLSearchParams({
    client_id: client.id,
    response_type: 'code',
    redirect_uri: client.redirectUri,
    scope: 'openid email',
    state: 'a state',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`;
  return { url, verifier };
}

async function redeem(issuer: string, client: Client, arrived: string, verifier: string, more = {}) {
  const code = new URL(arrived).searchParams.get('code') ?? '';
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${client.id}:${encodeURIComponent(client.secret)}`).toString('base64')}`,
    },
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      code_verifier: verifier,
      ...more,
    }),
  });
  return (await answer.json()) as Record<string, string>;
}

const partOf = (jwt: string | undefined, index: 0 | 1) =>
  JSON.parse(Buffer.from(jwt?.split('.')[index] ?? '', 'base64url').toString());

t.test('any e-mail address logs in, on a page without third-party resources', async (t) => {
  const { issuer } = await provider(t);
  const { open } = browser(issuer);
  const { url, verifier } = authorization(issuer, PRODUCT);
  const first = await open(url);
  t.match(first.page, /<html lang="en">.*<h1>Sign in to EloquentPoll<\/h1>.*Local development only/s);
  t.match(first.page, /<label for="email">.*<input id="email"/s);
  t.ok(first.page.includes(LOCAL_EMAIL), 'the account that npm start filled is proposed');
  t.notMatch(first.page, /https?:|<script|url\(/, 'nothing from elsewhere');
  t.match(first.policy, /default-src 'none'; script-src 'none'; .*form-action 'self' http:\/\/localhost:4999;/);

  const wrong = await open(first.url, { answer: 'yes', email: '"><script>alert(1)</script>' });
  t.match(wrong.page, /role="alert".*aria-describedby="wrong"/s);
  t.notMatch(wrong.page, /<script/, 'what was typed is text');

  const arrived = await open(first.url, { answer: 'yes', email: ' Ann@Example.COM ' });
  t.match(arrived.url, /^http:\/\/localhost:4999\/api\/auth\/callback\?code=[^&]+&state=a\+?(%20)?state&iss=/);
  const tokens = await redeem(issuer, PRODUCT, arrived.url, verifier);
  t.match(partOf(tokens.id_token, 1), {
    iss: issuer,
    aud: 'eloquentpoll',
    email: 'ann@example.com',
    email_verified: true,
  });
  t.match(await redeem(issuer, PRODUCT, arrived.url, verifier), { error: 'invalid_grant' }, 'a code is good once');
});

t.test('who refuses comes back with that', async (t) => {
  const { issuer } = await provider(t);
  const { open } = browser(issuer);
  const page = await open(authorization(issuer, PRODUCT).url);
  t.match((await open(page.url, { answer: 'no' })).url, /callback\?error=access_denied/);
});

t.test('issuer, key and people are the same after the next start', async (t) => {
  const subjects: string[] = [];
  const first = await provider(t);
  let { issuer, stop } = first;
  for (let start = 1; start <= 2; start++) {
    const { open } = browser(issuer);
    const { url, verifier } = authorization(issuer, PRODUCT);
    const arrived = await open((await open(url)).url, { answer: 'yes', email: LOCAL_EMAIL });
    const { id_token } = await redeem(issuer, PRODUCT, arrived.url, verifier);
    subjects.push([issuer, partOf(id_token, 1).sub, partOf(id_token, 0).kid].join(' '));
    await stop();
    await t.rejects(fetch(issuer), 'it has ended');
    if (start === 1) ({ issuer, stop } = await provider(t, first.folder));
  }
  t.equal(subjects[0], subjects[1]);
  t.equal(statSync(join(first.folder, 'identity-provider.json')).mode & 0o077, 0, 'only for its owner');
});

t.test('other clients register, are asked about, and get tokens for the product only', async (t) => {
  const { issuer } = await provider(t);
  const registered = await fetch(`${issuer}/reg`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: '<b>Agent</b>', redirect_uris: ['http://localhost:5999/done'] }),
  });
  const { client_id: id, client_secret: secret } = (await registered.json()) as Record<string, string>;
  const client = { id: id!, secret: secret!, redirectUri: 'http://localhost:5999/done' };
  const resource = `${BASE}/api/mcp`;
  const { open } = browser(issuer);
  const { url, verifier } = authorization(issuer, client, { resource });
  const question = await open((await open(url)).url, { answer: 'yes', email: 'ann@example.com' });
  t.match(question.page, /Let &lt;b&gt;Agent&lt;\/b&gt; in\?.*ann@example\.com.*localhost:5999/s);
  t.match(question.policy, /form-action 'self' http:\/\/localhost:5999;/);
  const arrived = await open(question.url, { answer: 'yes' });
  const tokens = await redeem(issuer, client, arrived.url, verifier, { resource });
  t.match(partOf(tokens.access_token, 0), { alg: 'RS256', typ: 'at+jwt' });
  t.match(partOf(tokens.access_token, 1), { iss: issuer, aud: resource });

  const foreign = await browser(issuer).open(authorization(issuer, client, { resource: 'https://bank.example' }).url);
  t.match(foreign.url, /^http:\/\/localhost:5999\/done\?error=invalid_target/);
});

t.test('logging out asks once and leads back to the product', async (t) => {
  const { issuer } = await provider(t);
  const { open } = browser(issuer);
  const login = authorization(issuer, PRODUCT).url;
  await open((await open(login)).url, { answer: 'yes', email: 'ann@example.com' });
  t.match((await open(login)).url, /callback\?code=/, 'still logged in');
  const query = new URLSearchParams({ client_id: PRODUCT.id, post_logout_redirect_uri: `${BASE}/` });
  const { page } = await open(`${issuer}/session/end?${query}`);
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
  t.equal((await open(`${issuer}/session/end/confirm`, { xsrf, logout: 'yes' })).url, `${BASE}/`);
  t.match((await open(login)).page, /Sign in to EloquentPoll/);
});

t.test('another name, another browser and a stale login get nothing', async (t) => {
  const { issuer } = await provider(t);
  const { url } = await browser(issuer).open(authorization(issuer, PRODUCT).url);
  const other = await fetch(url);
  t.equal(other.status, 400);
  t.match(await other.text(), /begun in another browser/);
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'rebound.example' };
    const call = request(`${issuer}/.well-known/openid-configuration`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on('error', reject).end();
  });
  t.equal(status, 421);
});

t.test('it runs for development on this machine and for nothing else', async (t) => {
  const script = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const good = { HOST: '127.0.0.1', BASE_URL: BASE, FOLDER: t.testdir(), CLIENT_SECRET: SECRET };
  const wrong: [NodeJS.ProcessEnv, RegExp][] = [
    [{ NODE_ENV: 'production' }, /does not run in production/],
    [{ HOST: '0.0.0.0' }, /HOST: must be a loopback address/],
    [{ HOST: '10.0.0.1' }, /HOST: must be a loopback address/],
    [{ BASE_URL: 'https://polls.example' }, /BASE_URL: must be on this machine/],
    [{ BASE_URL: 'http://127.0.0.1.polls.example' }, /BASE_URL: must be on this machine/],
    [{ CLIENT_SECRET: 'short' }, /must be set/],
  ];
  await Promise.all(
    wrong.map(async ([env, reason]) => {
      const run = promisify(execFile)(process.execPath, [script], {
        env: { ...bareEnvironment(), ...good, ...env },
      });
      const { code, stderr } = await run.then(
        () => ({ code: 0, stderr: '' }),
        (error: { code: number; stderr: string }) => error,
      );
      t.equal(code, 1);
      t.match(stderr, reason);
    }),
  );
});
