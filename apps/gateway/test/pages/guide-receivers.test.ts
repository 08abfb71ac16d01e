import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '@eloquentpoll/services/free-port';
import { findPython } from '@eloquentpoll/services/python-program';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { newWebhookSecret, signedHeaders } from '@eloquentpoll/webhooks';
import t, { type Test } from 'tap';
import { build } from '../fixtures/build.ts';

// The receivers that the guide prints, run as they are printed: each takes what is signed once, and refuses what is not.

const { app } = await build(t);
const folder = await mkdtemp(join(tmpdir(), 'receivers-'));
t.teardown(() => rm(folder, { recursive: true }));
const guide = (await app.inject({ url: '/guides/webhooks.md' })).body;
const secret = newWebhookSecret();

/** The sample of a language, on a free port. */
async function writeSample(language: string, name: string): Promise<{ file: string; port: number }> {
  const [, code] = new RegExp(`A receiver in ${language}[^]*?\`\`\`[^\\n]*\\n([^]*?)\n\`\`\``).exec(guide) ?? [];
  if (!code?.includes('3000')) throw new Error(`there is no receiver in ${language} on the page`);
  const port = await freePort();
  const file = join(folder, name);
  await writeFile(file, code.replace('3000', String(port)));
  return { file, port };
}

const bodyOf = (type: string, data: object): string =>
  JSON.stringify({ type, timestamp: '2026-11-22T10:00:00Z', data });
const BODY = bodyOf('poll.completed', { session_id: 'ps_1', status: 'completed' });

/** Every type has data of its own, and there may be types that do not exist yet. */
const OTHERS = [
  bodyOf('batch.completed', { batch_id: 'pb_1' }),
  bodyOf('balance.low', { balance_usd: 1 }),
  bodyOf('webhook.test', { endpoint_id: 'we_1' }),
  bodyOf('of.tomorrow', {}),
  // Longer than what is read at once, so that some piece ends within a character.
  ...['', '.'].map((shift) => bodyOf('poll.failed', { metadata: { name: `${shift}${'ü'.repeat(200_000)}` } })),
];

async function hold(t: Test, port: number, receiver: ChildProcess): Promise<void> {
  t.teardown(() => receiver.kill('SIGKILL'));
  let printed = '';
  for (const stream of [receiver.stdout, receiver.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const send = async (body: string, headers: Record<string, string>) =>
    (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers })).status;
  const signed = (id: string, body = BODY) => signedHeaders({ id, sentAt: new Date(), body }, [secret]);
  await eventually('it listens', () => send('{}', {}).then(Boolean, () => false));
  t.equal(await send(BODY, signed('msg_1')), 204, printed);
  t.equal(await send(BODY, signed('msg_1')), 204, 'a repeated message is taken, too');
  t.equal(await send(`${BODY} `, signed('msg_2')), 400, 'another body');
  t.equal(await send(BODY, signedHeaders({ id: 'msg_2', sentAt: new Date(), body: BODY }, [newWebhookSecret()])), 400);
  t.equal(await send(BODY, { ...signed('msg_2'), 'webhook-id': 'msg_3' }), 400);
  t.equal(await send(BODY, {}), 400);
  t.equal(await send(BODY, signed('msg_4')), 204);
  for (const [i, body] of OTHERS.entries())
    t.equal(await send(body, signed(`msg_other_${i}`, body)), 204, body.slice(0, 200));
  await eventually('it has printed', () => handled(printed).length === 2 + OTHERS.length);
  const types = OTHERS.map((body) => JSON.parse(body).type);
  t.same(handled(printed), ['poll.completed', 'poll.completed', ...types], 'each message is dealt with once');
}

/** The server of Python logs each request, too. */
const handled = (printed: string): string[] =>
  printed.split('\n').flatMap((line) => /^(?:\w+\.\w+)(?= )/.exec(line)?.[0] ?? []);

t.test('the receiver in TypeScript', async (t) => {
  const { file, port } = await writeSample('TypeScript', 'receiver.mts');
  const library = createRequire(import.meta.resolve('@eloquentpoll/webhooks')).resolve('standardwebhooks');
  const packages = library.slice(0, library.lastIndexOf('/standardwebhooks/'));
  await symlink(packages, join(folder, 'node_modules'));
  await hold(t, port, spawn(process.execPath, [file], { cwd: folder, env: { WEBHOOK_SECRET: secret } }));
});

t.test('the receiver in Python, beside the client that its comment fetches', async (t) => {
  const { file, port } = await writeSample('Python', 'receiver.py');
  await writeFile(join(dirname(file), 'eloquentpoll.py'), (await app.inject({ url: '/eloquentpoll.py' })).body);
  const { file: program, env } = await findPython(process.env);
  await hold(t, port, spawn(program, [file], { cwd: folder, env: { ...env, WEBHOOK_SECRET: secret } }));
});
