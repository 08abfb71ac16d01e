import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadPanels } from '@eloquentpoll/models/panels';
import { freePort } from '@eloquentpoll/services/free-port';
import t from 'tap';
import { EXAMPLES } from '../../src/discovery/documents/examples/index.ts';
import { EXAMPLE, EXAMPLE_ANSWER } from '../../src/discovery/documents/poll-prose.ts';
import { build } from '../fixtures/build.ts';
import { newPeer, oldPeer } from '../fixtures/mcp-peers.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { canRun, SYSTEM_PATH } from '../fixtures/system-programs.ts';

// slow: 3 s

// The examples are run as they are served, against a gateway that listens where they say it does.

// Links in the examples are made before the gateway listens, so its port has to be known before.
const port = await freePort();
const baseUrl = `http://127.0.0.1:${port}`;
const { app, context, keyWith } = await build(t, { baseUrl });
await app.listen({ host: '127.0.0.1', port });
await standInWorker(t, context, { opinion: () => EXAMPLE.options.indexOf(EXAMPLE_ANSWER) });
const { key } = await keyWith(1);
const folder = await mkdtemp(join(tmpdir(), 'examples-'));
t.teardown(() => rm(folder, { recursive: true }));

const served = async (language: string) => (await fetch(`${baseUrl}/api/examples/${language}`)).text();

async function run(text: string, file: string, command: string, env: Record<string, string> = {}): Promise<string> {
  const path = join(folder, file);
  await writeFile(path, text);
  const { stdout } = await promisify(execFile)(command, [path], {
    cwd: folder,
    env: { PATH: SYSTEM_PATH, ...env },
    timeout: 30_000,
  });
  return stdout;
}

const LANGUAGES = [
  { language: 'curl', file: 'example.sh', command: 'sh', needs: 'curl' },
  { language: 'typescript', file: 'example.ts', command: process.execPath, needs: process.execPath },
  { language: 'python', file: 'example.py', command: 'python3', needs: 'python3' },
] as const;

t.test(
  '[§4.7-example-curl, §4.7-example-typescript, §4.7-example-python, §1-support-examples] the code runs as it is',
  async (t) => {
    for (const { language, file, command, needs } of LANGUAGES) {
      if (!(await canRun(needs))) {
        t.comment(`${needs} is not on this machine, so the ${language} example was only read`);
        t.match(await served(language), baseUrl);
        continue;
      }
      const text = await served(language);
      const free = await run(text, file, command);
      t.match(free, EXAMPLE_ANSWER, `${language}: the winner`);
      t.match(free, /100% confidence after \d+ variants/, language);
      t.match(free, new RegExp(`${baseUrl}/api/results/EP-`), language);
      t.notMatch(free, /full poll|^Full/im, `${language}: no key, no full poll`);

      const full = await run(text, file, command, { EP_KEY: key });
      t.match(full, /full/i, language);
      t.match(full, /success/, language);
      const wrongKey = await run(text, file, command, { EP_KEY: 'ep_k_wrong' }).catch((error) => error);
      t.ok(wrongKey instanceof Error, `${language}: an error ends it`);
      t.match(JSON.stringify(wrongKey), 'invalid_api_key', `${language}: and is shown`);
    }
  },
);

t.test('where no free polls run, the code takes a key', async (t) => {
  const facts = { baseUrl, panels: loadPanels({ file: 'openai,anthropic' }) };
  for (const { language, file, command, needs } of LANGUAGES) {
    const text = EXAMPLES[language].code(facts);
    t.notMatch(text, 'quick-poll', language);
    if (!(await canRun(needs))) continue;
    t.match(await run(text, file, command, { EP_KEY: key }), /success/, language);
    await t.rejects(run(text, file, command), { message: /EP_KEY/ }, `${language}: or says what it needs`);
  }
});

t.test('[§4.7-example-mcp-config] real clients connect with the configuration', async (t) => {
  const { mcpServers } = JSON.parse(await served('mcp-config'));
  const { type, url, headers } = mcpServers.eloquentpoll;
  t.equal(type, 'http');
  const Authorization = headers.Authorization.replace(/\$\{EP_KEY\}/, key);
  for (const connect of [oldPeer, newPeer]) {
    const peer = await connect(t, new URL(url), { Authorization });
    const { tools } = await peer.listTools();
    t.ok(tools.some(({ name }) => name === 'poll_question'));
    const { structuredContent } = await peer.call('poll_question', { ...EXAMPLE, preset: 'fast' });
    t.equal(structuredContent?.winning_option, EXAMPLE_ANSWER);
  }
});

t.test('[§4.7-examples, §4.7-example-404, §7-404-language] the list, and what is not on it', async (t) => {
  const listing = (await app.inject({ url: '/api/examples' })).json();
  t.same(listing, {
    available: ['curl', 'typescript', 'python', 'mcp-config'],
    endpoints: ['curl', 'typescript', 'python', 'mcp-config'].map((language) => `/api/examples/${language}`),
  });
  for (const url of listing.endpoints) t.equal((await app.inject({ url })).statusCode, 200, url);
  for (const language of ['cobol', 'CURL', '__proto__', 'constructor', 'curl%00', '..%2fcurl']) {
    const answer = await app.inject({ url: `/api/examples/${language}` });
    t.equal(answer.json().code, language.includes('%00') ? 'validation_error' : 'language_not_found', language);
  }
});
