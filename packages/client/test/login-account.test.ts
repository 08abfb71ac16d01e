import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import { pipes, terminal } from './screen.ts';

// What `login` says of the account, and what becomes of a key that cannot be kept. The service is made up.

const SITE = 'https://polls.example';
const KEY = { id: 'id-1', key: 'ep_k_first_and_more', key_prefix: 'ep_k_first' };

const exported = (account: object) => () =>
  new Response(`${JSON.stringify({ type: 'account', balance_usd: 0, ...account })}\n{"type":"cursor","cursor":"c"}\n`);
const refusing = () => new Response('{"error":"No","code":"internal_error","retryable":true}', { status: 500 });

/** A login that its owner allows at once, at a service whose export is given. */
async function login(t: Test, exporting: () => Response, argv: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ep-home-'));
  const real = globalThis.fetch;
  t.teardown(() => {
    globalThis.fetch = real;
    rmSync(folder, { recursive: true });
  });
  const asked: string[] = [];
  globalThis.fetch = async (input, init) => {
    const path = String(input).slice(SITE.length);
    const { Authorization = '' } = { ...init?.headers } as Record<string, string>;
    asked.push(`${init?.method} ${path} ${Authorization}`.trim());
    if (path === '/api/export') return exporting();
    return new Response(JSON.stringify(path === '/api/keys/redeem' ? KEY : { revoked: true }));
  };
  const opened: string[] = [];
  const openBrowser = async (url: string) => {
    opened.push(url);
    const { searchParams: page } = new URL(url);
    const query = new URLSearchParams({ state: page.get('state') ?? '', code: 'c'.repeat(43) });
    const [response] = await once(get(`http://127.0.0.1:${page.get('port')}/?${query}`), 'response');
    response.resume();
    return true;
  };
  const { texts, ...outputs } = pipes();
  const file = join(folder, 'eloquentpoll', 'credentials.json');
  const at = { EP_URL: SITE, XDG_CONFIG_HOME: folder, ...env };
  return {
    ...{ file, asked, opened, texts },
    exit: () => run(['login', ...argv], terminal({ ...outputs, env: at, openBrowser })),
  };
}

t.test('login says into which account it went', async (t) => {
  const id = '0b6a3c1e-0000-4000-8000-000000000001';
  for (const [exporting, name, account] of [
    [
      exported({ user_id: id, email: 'ada@example.com' }),
      ' as ada@example.com',
      { user_id: id, email: 'ada@example.com' },
    ],
    [exported({ user_id: id, email: null }), ` as account ${id}`, { user_id: id, email: null }],
    [exported({ user_id: id, email: 'a\u009b@b' }), ' as a @b', { user_id: id, email: 'a\u009b@b' }],
    [refusing, '', null],
  ] as const) {
    const people = await login(t, exporting);
    t.equal(await people.exit(), EXIT.winner, people.texts.err);
    t.equal(people.texts.out, `Logged in at ${SITE}${name}. The key ep_k_first… is in ${people.file}\n`);
    t.same(people.asked, ['POST /api/keys/redeem', `GET /api/export Bearer ${KEY.key}`], 'once, with the new key');
    const programs = await login(t, exporting, ['--json']);
    t.equal(await programs.exit(), EXIT.winner);
    const said = { id: 'id-1', key_prefix: 'ep_k_first', file: programs.file, account };
    t.same(JSON.parse(programs.texts.out), said);
  }
});

t.test('a key that cannot be kept is revoked', async (t) => {
  const { exit, file, asked, texts } = await login(t, refusing);
  mkdirSync(`${file}.${process.pid}`, { recursive: true });
  t.equal(await exit(), EXIT.usage);
  t.same(asked, ['POST /api/keys/redeem', `DELETE /api/keys/id-1 Bearer ${KEY.key}`]);
  t.match(texts.err, 'credentials.json');
  t.notOk(existsSync(file));
});

t.test('where no key could be kept, no page is opened', async (t) => {
  const { exit, opened, texts } = await login(t, refusing, [], { XDG_CONFIG_HOME: '' });
  t.equal(await exit(), EXIT.usage);
  t.match(texts.err, 'set HOME or XDG_CONFIG_HOME');
  t.same(opened, []);
});

t.test('a key of the login before that stays valid is not passed over', async (t) => {
  const { exit, file, texts } = await login(t, refusing);
  mkdirSync(dirname(file));
  writeFileSync(file, JSON.stringify({ [SITE]: { id: 'old', key: 'ep_k_old' } }));
  const answering = globalThis.fetch;
  globalThis.fetch = async (input, init) => (init?.method === 'DELETE' ? refusing() : answering(input, init));
  t.equal(await exit(), EXIT.winner);
  t.match(texts.err, `The key of the login before could not be revoked and stays valid: see ${SITE}/dashboard/keys\n`);
  t.same(JSON.parse(readFileSync(file, 'utf8')), { [SITE]: { id: KEY.id, key: KEY.key } });
});

t.test('login says that EP_KEY comes first', async (t) => {
  const { exit, file, texts } = await login(t, refusing, [], { EP_KEY: 'ep_k_env' });
  t.equal(await exit(), EXIT.winner);
  t.match(texts.err, 'EP_KEY is set: commands use that key instead of this one.\n');
  t.same(JSON.parse(readFileSync(file, 'utf8')), { [SITE]: { id: KEY.id, key: KEY.key } });
});
