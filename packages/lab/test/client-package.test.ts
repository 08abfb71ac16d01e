import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { toolEnvironment } from '@eloquentpoll/launch/folders';
import { npmCommand } from '@eloquentpoll/launch/npm';
import { receiptPrice, receiptSigner, statementText } from '@eloquentpoll/polls';
import { openBrowser } from '@eloquentpoll/testkit/browser';
import t from 'tap';
import { bundleClient } from '../../../scripts/bundling/bundle-client.ts';
import { bringRuntimes } from '../../../scripts/testing/runtimes.ts';
import {
  batch,
  batchResult,
  complete,
  jsonLines,
  QUESTION,
  RESULT,
  serve,
  sse,
  started,
} from '../../client/test/service.ts';
import { drawnPoll } from '../src/receipts/drawn-polls.ts';
import { sealedDay } from '../src/receipts/sealed-day.ts';

// slow: 25 s
// The npm package as its users have it: packed, installed into an empty project, and run by each runtime that it names.

// The first run on a machine brings the runtimes from npm.
t.setTimeout(300_000);

const PROGRAM = `
import { BASE_URL, EloquentPoll, EloquentPollError } from 'eloquentpoll';
const polls = new EloquentPoll({ baseUrl: process.env.EP_URL, apiKey: 'ep_k_x', maxRetries: 0 });
const { outcome } = await polls.ask(${JSON.stringify(QUESTION)});
const events = [];
for await (const { event } of polls.stream(${JSON.stringify(QUESTION)})) events.push(event);
const refused = await polls.profiles().catch((error) => error instanceof EloquentPollError && error.code);
console.log(JSON.stringify({ home: BASE_URL, outcome, events, refused }));
`;
const RESULTS = jsonLines([1, 2].map((line) => batchResult(line, { custom_id: 'a\u2028b' })));
/** For readers that end a line at U+2028. */
const WRITTEN = RESULTS.replaceAll('\u2028', '\\u2028');
const SAID = {
  home: 'https://polls.example',
  outcome: 'The Sun',
  events: ['started', 'complete'],
  refused: 'not_here',
};

/** Uses the figures of a dry run by the names of both the client and the contract. */
const TYPED = `
import { EloquentPoll, type DryRun, type PollResponse } from 'eloquentpoll';
const polls = new EloquentPoll();
const { estimates }: DryRun = await polls.dryRun({ question: 'Which is larger?', options: ['The Sun', 'The Moon'] });
const figures: (number | undefined)[] = [
  estimates.estimated_cost_usd, estimates.estimated_models_invoked, estimates.total_models, estimates.estimated_latency_ms,
];
const answer: PollResponse = await polls.ask({ question: 'Which is larger?', options: ['The Sun', 'The Moon'] });
// @ts-expect-error There is no such field.
answer.no_such_field;
export default figures;
`;

/** Of Node 20.4, 22 and later; the bundler lowers syntax only. */
const LATER = /\b(withResolvers|groupBy|fromAsync|asyncDispose|AbortSignal\.any|URL\.parse|Promise\.try|isSubsetOf)\b/;

async function ended(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}) {
  const child = spawn(file, args, { cwd, env: { ...process.env, NODE_OPTIONS: '', ...env } });
  child.stdin.end();
  const code = new Promise<number | null>((done, failed) => child.once('close', done).once('error', failed));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { out, err, code: await code };
}

const folder = await mkdtemp(join(tmpdir(), 'eloquentpoll-'));
t.teardown(() => rm(folder, { recursive: true }));
const packed = join(folder, 'package');
const project = join(folder, 'project');
await bundleClient({ into: packed, baseUrl: 'https://polls.example', repository: 'https://github.com/owner/polls' });
await mkdir(project);
await writeFile(join(project, 'package.json'), '{"private":true}');

const [npm, ...first] = npmCommand();
const byNpm = async (cwd: string, ...args: string[]) => {
  const { out, err, code } = await ended(npm, [...first, ...args], cwd, toolEnvironment());
  if (code !== 0) throw new Error(`npm ${args[0]}: ${err}`);
  return out;
};

const { url } = await serve(t, ({ method, path }, response) => {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-allow-headers', 'authorization, content-type, idempotency-key');
  if (method === 'OPTIONS') return {};
  if (path === '/api/profiles') {
    response.writeHead(404, { 'content-type': 'application/json' });
    return { code: 'not_here', error: 'Nothing is here.' };
  }
  if (path === '/api/keys/redeem') return { id: 'id-1', key: 'ep_k_made', key_prefix: 'ep_k_made' };
  if (path.startsWith('/api/batches?') || path === '/api/batches') return batch(0, 2);
  if (path === '/api/batches/pb_1') return batch(2, 2);
  if (path === '/api/batches/pb_1/results') {
    response.writeHead(200, { 'content-type': 'application/jsonl' });
    return void response.end(RESULTS);
  }
  if (path !== '/api/poll/stream') return RESULT;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return void response.end(sse('started', started(0)) + complete(1));
});

const [{ filename, files, size, unpackedSize }] = JSON.parse(
  await byNpm(packed, 'pack', '--json', '--pack-destination', folder),
);
await byNpm(project, 'install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, filename));
const installed = join(project, 'node_modules/eloquentpoll');
await writeFile(join(project, 'program.mjs'), PROGRAM);

t.test('the package has programs, types and a licence, depends on nothing, and can prove its origin', async (t) => {
  t.same(files.map(({ path }: { path: string }) => path).sort(), [
    'LICENSE',
    'README.md',
    'cli.js',
    'eloquentpoll.d.ts',
    'eloquentpoll.js',
    'mcp.js',
    'package.json',
  ]);
  t.comment(`${size} bytes packed, ${unpackedSize} unpacked`);
  // What it does itself; a dependency that came in by mistake is more.
  t.ok(size < 70_000, `${size} bytes`);
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  t.match(manifest, {
    name: 'eloquentpoll',
    license: 'MIT',
    repository: { url: 'git+https://github.com/owner/polls.git' },
    publishConfig: { access: 'public', provenance: true },
  });
  for (const program of ['cli.js', 'mcp.js'])
    t.notMatch(
      await readFile(join(installed, program), 'utf8'),
      LATER,
      `${program} names nothing newer than Node 20.0`,
    );
  for (const field of ['dependencies', 'peerDependencies', 'scripts', 'private']) t.notHas(manifest, field);
  t.same(await readdir(join(project, 'node_modules')), ['.bin', '.package-lock.json', 'eloquentpoll']);
  t.notMatch(await readFile(join(installed, 'eloquentpoll.js'), 'utf8'), /\bimport\b/);
});

t.test('its types compile in a strict project, with either way to resolve modules', async (t) => {
  await writeFile(join(project, 'typed.mts'), TYPED);
  const { default: compiler } = await import('../../../node_modules/typescript/lib/getExePath.js');
  for (const how of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    const kinds = ['--module', how[0], '--moduleResolution', how[1], '--target', 'es2022', '--lib', 'es2022,dom'];
    const rules = ['--noEmit', '--strict', '--types', '', '--ignoreConfig', 'typed.mts'];
    const { out, err, code } = await ended(compiler(), [...kinds, ...rules], project);
    t.equal(code, 0, out + err);
  }
});

const cli = join(installed, 'cli.js');
const flags = (name: string) => (name === 'deno' ? ['run', '--allow-all', '--quiet', '--no-prompt'] : []);

/** By name. Where one of Node cannot be had this fails, so that it is never left out. */
async function everyRuntime(): Promise<Map<string, string>> {
  const others = await bringRuntimes();
  for (const name of ['node20', 'node22'])
    if (!others.has(name)) throw new Error(`scripts/testing/runtimes.ts names no ${name} for this platform`);
  return new Map([[`node${process.versions.node.split('.')[0]}`, process.execPath], ...others]);
}

t.test('it runs in every runtime, and so does its command line', async (t) => {
  const runtimes = await everyRuntime();
  t.comment([...runtimes.keys()].join(', '));
  const env = { EP_URL: url, EP_KEY: 'ep_k_x', NO_COLOR: '1', HOME: folder, DENO_NO_UPDATE_CHECK: '1' };
  const verify = [cli, 'verify', ...(await receiptFiles())];
  for (const [name, file] of runtimes) {
    const run = (...args: string[]) => ended(file, [...flags(name), ...args], project, env);
    const [program, asked, verified] = await Promise.all([
      run('program.mjs'),
      run(cli, 'result', 'EP-1', '--json'),
      run(...verify),
    ]);
    t.same({ ...JSON.parse(program.out || '{}'), err: program.err }, { ...SAID, err: '' }, name);
    t.equal(asked.code, 0, `${name}: ${asked.err}`);
    t.match(JSON.parse(asked.out || '{}'), { outcome: 'The Sun' }, `${name}: the command line`);
    t.match(verified, { code: 0, out: /^Everything that could be checked is valid\./ }, `${name}: verify`);
  }
});

t.test('login and batch run in every runtime too', async (t) => {
  const rows = join(project, 'rows.jsonl');
  await writeFile(
    rows,
    `${JSON.stringify(QUESTION)}\n${JSON.stringify({ ...QUESTION, question: 'Which is \u2028?' })}\n`,
  );
  for (const [name, file] of await everyRuntime()) {
    const places = { HOME: folder, XDG_CONFIG_HOME: join(folder, name) };
    const env = { EP_URL: url, NO_COLOR: '1', ...places, DENO_NO_UPDATE_CHECK: '1' };
    const said = await allowedLogin(file, [...flags(name), cli, 'login', '--no-browser', '--url', url], env);
    t.match(said, { code: 0, err: /^Allow the login in the browser/, out: `Logged in at ${url}.` }, `${name}: login`);
    const results = join(project, `${name}.jsonl`);
    // Once more, it goes on with what it has written.
    for (const added of [2, 0]) {
      const args = [...flags(name), cli, 'batch', rows, '--out', results];
      const answered = await ended(file, args, project, { ...env, EP_KEY: 'ep_k_x' });
      t.match(answered, { code: 0, out: /^pb_1 completed: 2 of 2 rows answered\n/ }, `${name}: batch, ${added} lines`);
      t.equal(await readFile(results, 'utf8'), WRITTEN, name);
    }
  }
});

/** `login`, whose owner follows the address that it prints and allows it there. */
async function allowedLogin(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  const options = { cwd: project, env: { ...process.env, NODE_OPTIONS: '', ...env } };
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const code = new Promise<number | null>((done, failed) => child.once('close', done).once('error', failed));
  const out = text(child.stdout);
  let err = '';
  let isAllowed = false;
  for await (const piece of child.stderr) {
    err += piece;
    const [, page] = /^(http\S+\/dashboard\/grant\S+)\n/m.exec(err) ?? [];
    if (page === undefined || isAllowed) continue;
    isAllowed = true;
    const { searchParams: asked } = new URL(page);
    const answer = new URLSearchParams({ state: asked.get('state') ?? '', code: 'c'.repeat(43) });
    await fetch(`http://127.0.0.1:${asked.get('port')}/?${answer}`);
  }
  return { out: await out, err, code: await code };
}

/** A receipt with its day and keys, as files. */
async function receiptFiles(): Promise<string[]> {
  const signer = receiptSigner(Buffer.alloc(32, 5));
  const poll = drawnPoll('of the package');
  const statement = statementText(poll);
  const day = sealedDay('2026-11-20', [statement]);
  const receipt = { ...signer.sign(statement), proof: day.proofOf(statement), price: receiptPrice(poll) };
  const files = { receipt, keys: { keys: signer.keys }, days: { days: [day.published] } };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(project, `${name}.json`), JSON.stringify(content));
  return ['receipt.json', '--keys', 'keys.json', '--days', 'days.json'];
}

t.test('its programs start by name, as npx starts them', async (t) => {
  const bin = (name: string) => join(project, 'node_modules/.bin', name);
  const env = { EP_URL: url, EP_KEY: 'ep_k_x' };
  t.match(await ended(bin('eloquentpoll'), ['--version'], project, env), { code: 0, out: /^eloquentpoll \d/ });
  const mcp = await ended(bin('eloquentpoll-mcp'), [], project, env);
  t.same(mcp, { out: '', err: '', code: 0 }, 'it ends with its input');
  // The proxy is nowhere, so that nothing leaves this computer.
  const away = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: 'http://127.0.0.1:9', EP_URL: '', EP_KEY: 'ep_k_x' };
  const host = spawn(bin('eloquentpoll-mcp'), [], { cwd: project, env: { ...process.env, NODE_OPTIONS: '', ...away } });
  const closed = once(host, 'close');
  host.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const [answer] = await once(host.stdout, 'data');
  host.stdin.end();
  await closed;
  t.match(JSON.parse(String(answer)), { error: { message: /^The service at https:\/\/polls\.example cannot/ } });
});

t.test('a page in Chromium imports it', async (t) => {
  const page = `<!doctype html><title>page</title><script type="importmap">{"imports":{"eloquentpoll":"/eloquentpoll.js"}}</script>
<script type="module">${PROGRAM.replace('process.env.EP_URL', JSON.stringify(url))}</script>`;
  const script = await readFile(join(installed, 'eloquentpoll.js'), 'utf8');
  const site = createServer(({ url: path }, answer) => {
    const isScript = path === '/eloquentpoll.js';
    answer.setHeader('content-type', isScript ? 'text/javascript' : 'text/html').end(isScript ? script : page);
  });
  await new Promise<void>((done) => site.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    site.closeAllConnections();
    site.close();
  });
  const browser = await openBrowser(t);
  const tab = await browser.newPage();
  const said = tab.waitForEvent('console', (message) => message.text().startsWith('{'));
  await tab.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  t.same(JSON.parse((await said).text()), SAID);
});
