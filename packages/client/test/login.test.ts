import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { listenForGrant } from '../src/cli/loopback.ts';
import { run } from '../src/cli/run.ts';
import { pipes, terminal } from './screen.ts';
import { type Answering, serve } from './service.ts';

const KEY = { id: 'id-1', key: 'ep_k_first', key_prefix: 'ep_k_first', label: 'x', expires_at: null, warning: '' };

function home(t: Test) {
  const folder = mkdtempSync(join(tmpdir(), 'ep-home-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return { folder, file: join(folder, 'eloquentpoll', 'credentials.json') };
}

/** A service whose owner answers in the browser, and one that hands out `keys` in turn. */
async function loginService(t: Test, keys: object[], browse: (page: URL) => unknown, other: Answering = () => []) {
  const service = await serve(t, (asked, response, nth) =>
    asked.path === '/api/keys/redeem' ? keys.shift() : other(asked, response, nth),
  );
  const { folder, file } = home(t);
  const env = { EP_URL: service.url, XDG_CONFIG_HOME: folder };
  const openBrowser = async (url: string) => Boolean((await browse(new URL(url))) ?? true);
  return { ...service, file, env, openBrowser };
}

/** Answers as the dashboard's redirect does. */
const answer = (page: URL, query: Record<string, string>) =>
  fetch(`http://127.0.0.1:${page.searchParams.get('port')}/?${new URLSearchParams(query)}`);
const allow = (page: URL) => answer(page, { state: page.searchParams.get('state') ?? '', code: 'c'.repeat(43) });

t.test('login gets a key by the browser, keeps it for its owner alone, and logout revokes it', async (t) => {
  const keys = [KEY, { ...KEY, id: 'id-2', key: 'ep_k_second' }];
  const { url, asked, file, env, openBrowser } = await loginService(t, keys, allow);
  const { texts, ...outputs } = pipes();
  t.equal(await run(['login'], terminal({ ...outputs, env, openBrowser })), EXIT.winner, texts.err);
  t.match(texts.out, `Logged in at ${url}.`);
  t.notMatch(texts.out + texts.err, 'ep_k_first"');

  const page = new URL(/http:\S+grant\S+/.exec(texts.err)?.[0] ?? '');
  const { verifier } = asked[0]!.body as { verifier: string };
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  t.equal(page.searchParams.get('challenge'), challenge);
  const shown = createHash('sha256').update(challenge).digest('hex').slice(0, 8).toUpperCase();
  t.match(texts.err, `${shown.slice(0, 4)}-${shown.slice(4)}`, 'the code that the page shows');

  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700);
  t.same(JSON.parse(readFileSync(file, 'utf8')), { [url]: { id: 'id-1', key: 'ep_k_first' } });
  await run(['keys'], terminal({ env }));
  t.equal(asked.at(-1)?.headers.authorization, 'Bearer ep_k_first');
  await run(['keys'], terminal({ env: { ...env, EP_KEY: 'ep_k_env' } }));
  t.equal(asked.at(-1)?.headers.authorization, 'Bearer ep_k_env', 'a key that is named comes first');

  t.equal(await run(['login'], terminal({ env, openBrowser })), EXIT.winner);
  t.match(asked.at(-1), { method: 'DELETE', path: '/api/keys/id-1', headers: { authorization: 'Bearer ep_k_first' } });
  const out = pipes();
  t.equal(await run(['logout'], terminal({ ...out, env })), EXIT.winner);
  t.match(out.texts.out, 'the key is revoked');
  t.match(asked.at(-1), { method: 'DELETE', path: '/api/keys/id-2', headers: { authorization: 'Bearer ep_k_second' } });
  t.notOk(existsSync(file));
  const again = pipes();
  t.equal(await run(['logout'], terminal({ ...again, env })), EXIT.winner);
  t.match(again.texts.out, 'You were not logged in');
});

t.test('a login that is refused, and one that is interrupted, keep nothing', async (t) => {
  const refuse = (page: URL) => answer(page, { state: page.searchParams.get('state') ?? '', error: 'access_denied' });
  const refused = await loginService(t, [KEY], refuse);
  const { texts, ...outputs } = pipes();
  t.equal(await run(['login'], terminal({ ...outputs, ...refused })), EXIT.refused);
  t.match(texts.err, 'The login was refused in the browser.');
  t.same(refused.asked, []);
  const enough = new AbortController();
  const left = await loginService(t, [KEY], () => enough.abort());
  t.equal(await run(['login'], terminal({ ...left, signal: enough.signal })), EXIT.interrupted);
  for (const { file } of [refused, left]) t.notOk(existsSync(file));
});

t.test('the loopback address takes one answer, with its state, under its own name', async (t) => {
  const state = 's'.repeat(22);
  const loopback = await listenForGrant(state);
  t.teardown(() => loopback.close());
  const ask = (query: object, init: RequestInit = {}, host = '127.0.0.1') =>
    fetch(`http://${host}:${loopback.port}/?${new URLSearchParams({ ...query })}`, init).then(({ status }) => status);
  const code = 'c'.repeat(43);
  t.equal(await ask({ state: 'guess', code }), 400);
  t.equal(await ask({ code }), 400);
  t.equal(await ask({ state, code: '<b>' }), 400);
  t.equal(await ask({ state, code }, { method: 'POST' }), 400);
  await t.rejects(ask({ state, code }, {}, '[::1]'), 'it listens on 127.0.0.1 only');
  let answered = false;
  void loopback.answer.then(() => (answered = true));
  t.equal(answered, false);
  t.equal(await ask({ state, code }), 200);
  t.same(await loopback.answer, { code });
});

t.test('a connection that a browser keeps open does not hold the command back', async (t) => {
  let isClosed = false;
  const { file, env, openBrowser } = await loginService(t, [KEY], async (page) => {
    const idle = connect(Number(page.searchParams.get('port')), '127.0.0.1');
    t.teardown(() => idle.destroy());
    await once(idle, 'connect');
    idle.once('close', () => (isClosed = true));
    t.equal((await allow(page)).status, 200);
  });
  t.equal(await run(['login'], terminal({ env, openBrowser })), EXIT.winner);
  t.ok(existsSync(file));
  await eventually('the connection is closed', () => isClosed);
});

t.test('logout removes the key also where the service cannot be reached', async (t) => {
  const { folder, file } = home(t);
  const url = 'http://127.0.0.1:9';
  mkdirSync(join(file, '..'));
  const other = { 'https://other.example': { id: 'o', key: 'k' } };
  writeFileSync(file, JSON.stringify({ [url]: { id: 'i', key: 'k' }, ...other }));
  const { texts, ...outputs } = pipes();
  const env = { EP_URL: url, XDG_CONFIG_HOME: folder };
  t.equal(
    await run(['logout'], terminal({ ...outputs, env })),
    EXIT.unavailable,
    'scripts notice that the key is valid',
  );
  t.match(texts.out, `could not be revoked: see ${url}/dashboard/keys`);
  t.same(JSON.parse(readFileSync(file, 'utf8')), other, 'keys of other services stay');
});

t.test('a damaged file of keys is named', async (t) => {
  const { folder, file } = home(t);
  mkdirSync(join(file, '..'));
  for (const content of ['{', '[]', '{"http://x":{"key":1}}']) {
    writeFileSync(file, content);
    const { texts, ...outputs } = pipes();
    t.equal(await run(['keys'], terminal({ ...outputs, env: { HOME: folder, XDG_CONFIG_HOME: folder } })), EXIT.usage);
    t.match(texts.err, `${file} is damaged. Remove it and log in again.`);
  }
});
