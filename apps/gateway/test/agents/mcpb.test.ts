import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import t, { type Test } from 'tap';
import { bundleMcpb } from '../../../../scripts/bundling/bundle-mcpb.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 4 s

// The bundle as a desktop host uses it: unpacked into a folder, started as its manifest says, spoken to over stdio by the
// official clients of both eras.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const { app, context, keyWith } = await build(t);
const home = await app.listen({ host: '127.0.0.1', port: 0 });
const folder = await mkdtemp(join(tmpdir(), 'mcpb-'));
t.teardown(() => rm(folder, { recursive: true }));
const { file } = await bundleMcpb(join(folder, 'eloquentpoll.mcpb'), 'https://polls.example');

const files = unzip(await readFile(file));
const manifest = JSON.parse(files.get('manifest.json')!.toString());
const { command, args, env } = manifest.server.mcp_config;
await writeFile(join(folder, 'index.mjs'), files.get(manifest.server.entry_point)!);

/** What a host puts in the places of the manifest. */
const started = (config: Record<string, string>) => ({
  command: command === 'node' ? process.execPath : command,
  args: args.map((argument: string) =>
    argument.replace(`\${__dirname}/${manifest.server.entry_point}`, join(folder, 'index.mjs')),
  ),
  env: Object.fromEntries(
    Object.entries(env as Record<string, string>).map(([name, value]) => [
      name,
      value.replace(/\$\{user_config\.(\w+)\}/, (_place, field: string) => config[field] ?? ''),
    ]),
  ),
});

t.test('the manifest names what is in the archive, and asks for the key as a secret', async (t) => {
  t.same([...files.keys()], ['manifest.json', manifest.server.entry_point, 'LICENSE']);
  t.match(manifest, {
    manifest_version: '0.3',
    name: 'eloquentpoll',
    version: (await app.inject({ url: '/api/health' })).json().version,
    author: { name: String },
    server: { type: 'node', mcp_config: { command: 'node' } },
    user_config: {
      api_key: { type: 'string', sensitive: true, required: true },
      base_url: { default: 'https://polls.example' },
    },
  });
  t.same((await bundleMcpb(join(folder, 'again.mcpb'), 'https://polls.example')).bytes, (await readFile(file)).length);
});

t.test('clients of both eras list tools, poll with progress, and read the result', async (t) => {
  const { key } = await keyWith(5);
  const config = { api_key: key, base_url: home };
  const peers = [
    {
      peer: new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } }),
      transport: new StdioClientTransport(started(config)),
    },
    { peer: new EarlierClient({ name: 'host', version: '1' }), transport: new EarlierTransport(started(config)) },
  ];
  let progressed = Promise.withResolvers<void>();
  await standInWorker(t, context, { announcesVotes: true, endsAfter: () => progressed.promise });
  for (const { peer, transport } of peers) {
    await peer.connect(transport as never);
    t.teardown(() => peer.close());
    const { tools } = await peer.listTools();
    t.same(
      tools.map(({ name }) => name),
      manifest.tools.map(({ name }: { name: string }) => name),
    );
    t.ok((await peer.listPrompts()).prompts.length > 0);
    progressed = Promise.withResolvers();
    const call = { name: 'poll_question', arguments: POLL };
    // Without it the poll would not end.
    const onprogress = ({ progress }: { progress: number }) => progress > 0 && progressed.resolve();
    const answer =
      peer instanceof Client
        ? await peer.callTool(call, { onprogress })
        : await peer.callTool(call, undefined, { onprogress });
    const result = answer.structuredContent as { winning_option: string; poll_id: string };
    t.equal(result.winning_option, 'A');
    const { contents } = await peer.readResource({ uri: `poll://${result.poll_id}` });
    t.equal(contents.length, 2);
  }
});

/** A host of revision 2026-07-28 at a gateway of its own. */
async function hostOf(t: Test, own: Gateway) {
  const base_url = await own.app.listen({ host: '127.0.0.1', port: 0 });
  const { key } = await own.keyWith(5);
  const peer = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await peer.connect(new StdioClientTransport(started({ api_key: key, base_url })) as never);
  t.teardown(() => peer.close());
  const { db } = own.context.storage;
  const polls = () => db.selectFrom('polls').select(['status', 'canceled_at']).execute();
  const waits = () => eventually('the request waits for its poll', () => own.context.bus.watched() === 1);
  return { peer, polls, waits };
}

t.test('a poll whose connection is cut is asked for again, and is one poll', async (t) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const own = await build(t);
  await standInWorker(t, own.context, { holdUntil: held });
  const { peer, polls, waits } = await hostOf(t, own);
  const answer = peer.callTool({ name: 'poll_question', arguments: POLL });
  await waits();
  own.app.server.closeAllConnections();
  release();
  t.match((await answer).structuredContent, { winning_option: 'A' });
  t.match(await polls(), [{ status: 'completed', canceled_at: null }]);
});

t.test('a poll whose call is canceled is stopped, although it has a key', async (t) => {
  const { peer, polls, waits } = await hostOf(t, await build(t));
  const enough = new AbortController();
  const call = peer.callTool({ name: 'poll_question', arguments: POLL }, { signal: enough.signal });
  const ended = call.catch((error: unknown) => error);
  await waits();
  enough.abort();
  t.ok((await ended) instanceof Error);
  await eventually('the poll has ended', async () => (await polls())[0]?.status === 'failed');
  t.match(await polls(), [{ status: 'failed', canceled_at: Date }]);
});

t.test('what fails is an answer in words: no key, a wrong key, a service that is away', async (t) => {
  const { key } = await keyWith(1);
  for (const [config, message] of [
    [{ api_key: '', base_url: home }, /EP_KEY is not set/],
    [{ api_key: 'ep_k_wrong', base_url: home }, /key/i],
    [{ api_key: key, base_url: 'http://127.0.0.1:9' }, /cannot be reached/],
  ] as const) {
    const peer = new EarlierClient({ name: 'host', version: '1' });
    t.teardown(() => peer.close());
    await t.rejects(peer.connect(new EarlierTransport(started(config)) as never), message);
  }
});

/** By the central directory, as readers of the format do; every checksum is checked. */
function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const found = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let i = archive.readUInt16LE(end + 10); i > 0; i--) {
    const [checksum, packed, size] = [16, 20, 24].map((place) => archive.readUInt32LE(at + place)) as [
      number,
      number,
      number,
    ];
    const [nameLength, extra, comment] = [28, 30, 32].map((place) => archive.readUInt16LE(at + place)) as [
      number,
      number,
      number,
    ];
    const name = archive.toString('utf8', at + 46, at + 46 + nameLength);
    const header = archive.readUInt32LE(at + 42);
    const body = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
    const bytes = inflateRawSync(archive.subarray(body, body + packed));
    if (bytes.length !== size || crc32(bytes) !== checksum) throw new Error(`${name} is damaged`);
    found.set(name, bytes);
    at += 46 + nameLength + extra + comment;
  }
  return found;
}
