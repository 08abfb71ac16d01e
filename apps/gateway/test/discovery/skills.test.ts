import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import t from 'tap';
import { INSTRUCTION_FILES, SKILL_NAME } from '../../src/discovery/documents/skill-paths.ts';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;

/** A request line as it is written: clients of HTTP mend paths before they send them. */
async function raw(path: string, method = 'GET'): Promise<{ status: number; head: string; body: Buffer }> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`, 'latin1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  const bytes = Buffer.concat(chunks);
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, end).toString('latin1');
  return { status: Number(head.split(' ')[1]), head, body: bytes.subarray(end + 4) };
}

const index = (await app.inject({ url: '/.well-known/agent-skills/index.json' })).json();
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

t.test(
  '[§4.7-agent-skills, §4.7-agent-skills-digest] the index names each skill with the digest of its bytes',
  async (t) => {
    t.equal(index.$schema, 'https://schemas.agentskills.io/discovery/0.2.0/schema.json');
    t.ok(index.skills.length > 0);
    for (const { name, type, description, url, digest } of index.skills) {
      t.match(name, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      t.equal(type, 'skill-md');
      t.ok(description.length > 0 && description.length <= 1024);
      const file = await raw(url);
      t.equal(file.status, 200);
      t.equal(digest, `sha256:${sha256(file.body)}`);
      const text = file.body.toString();
      const [, frontmatter = '', body = ''] = /^---\n(.*?)\n---\n\n(.*)$/s.exec(text) ?? [];
      const fields = Object.fromEntries(frontmatter.split('\n').map((line) => line.split(/: (.*)/s)));
      t.match(fields, { name, description }, 'the frontmatter says what the index says');
      t.ok((fields.compatibility ?? '').length <= 500);
      t.ok(body.split('\n').length < 500 && Buffer.byteLength(body) / 4 < 5_000, 'short enough to be read whole');
      t.match(url, new RegExp(`/${name}/SKILL\\.md$`), 'the name is that of the folder');
    }
  },
);

const homes = ['.cursor', '.claude', '.codex', '.agents'];
const MIRRORS = ['', '/~', '/%7E', '/%7e'].flatMap((root) => [
  ...homes.map((home) => `${root}/${home}/skills/${SKILL_NAME}/SKILL.md`),
  `${root}/.cursor/${SKILL_NAME}/SKILL.md`,
  `${root}/.claude/skills/${SKILL_NAME}.md`,
]);

t.test(
  '[§4.7-mirror-markdown, §4.7-mirror-cursor, §4.7-mirror-claude, §4.7-mirror-codex, §4.7-mirror-agents, §4.7-mirror-tilde, §4.7-mirror-tilde-encoded, §4.7-mirror-cursor-short, §4.7-mirror-claude-md, §8-markdown-tokens] every mirror holds the bytes of the skill',
  async (t) => {
    const [{ digest }] = index.skills;
    for (const path of MIRRORS) {
      const { status, head, body } = await raw(path);
      t.equal(status, 200, path);
      t.match(head, /content-type: text\/markdown; charset=utf-8/i, path);
      t.equal(`sha256:${sha256(body)}`, digest, path);
      t.match(head, new RegExp(`x-markdown-tokens: ${Math.ceil(body.length / 4)}\r`, 'i'), path);
      t.match(head, /content-signal: [^\r]*ai-train=/i, path);
      const headOnly = await raw(path, 'HEAD');
      t.match([headOnly.status, headOnly.body.length], [200, 0], path);
      t.match(headOnly.head, /content-type: text\/markdown/i, path);
    }
  },
);

t.test(
  '[§4.7-mirror-instructions, §4.7-mirror-instructions-encoded] the instruction files, in both spellings',
  async (t) => {
    t.same(INSTRUCTION_FILES, [
      'AGENTS.md',
      'CLAUDE.md',
      'SKILLS.md',
      'GEMINI.md',
      'CODEX.md',
      'AI.md',
      'AGENTS.override.md',
    ]);
    for (const name of INSTRUCTION_FILES) {
      const [plain, encoded] = [await raw(`/~/${name}`), await raw(`/%7E/${name}`)];
      t.match([plain.status, encoded.status], [200, 200], name);
      t.match(plain.head, /content-type: text\/markdown; charset=utf-8/i, name);
      t.match(plain.head, /x-markdown-tokens: \d+/i, name);
      t.ok(plain.body.length > 100 && plain.body.equals(encoded.body), name);
      t.match(plain.body.toString(), /^# /, name);
    }
  },
);

t.test('no path leads anywhere else', async (t) => {
  const ways = [
    '..',
    '../..',
    '%2e%2e',
    '%2E%2E/%2e%2e',
    '..%2f..',
    '..%5c..',
    '..\\..',
    '....//',
    '%252e%252e',
    '%c0%ae%c0%ae',
    '%e0%80%ae%e0%80%ae',
    '%00',
    'SKILL.md%00',
    '.%00.',
    '%7e/%7e',
    '~',
    '~root',
    '/',
    '%0d%0aX-Evil:%20yes',
    '..;',
  ];
  const roots = ['', ...homes.flatMap((home) => [`/${home}/`, `/~/${home}/skills/`, `/%7E/${home}/`]), '/~/', '/%7E/'];
  roots.push('/.well-known/agent-skills/', '/api/examples/');
  const targets = ['package.json', 'etc/passwd', ''];
  for (const root of roots) {
    const paths = ways.flatMap((way) => targets.map((target) => `${root || '/'}${way}/${target}`));
    const answers = await Promise.all(paths.map((path) => raw(path)));
    for (const [i, { status, head, body }] of answers.entries()) {
      if (status !== 404 && status !== 400) t.fail(`${paths[i]} answered ${status}`);
      if (/root:|dependencies|x-evil: yes/i.test(head + body.toString())) t.fail(`${paths[i]} showed ${body}`);
    }
  }
  for (const name of ['agents.md', 'AGENTS.md.bak', 'AGENTS%2emd%20', 'README.md', '__proto__', 'constructor'])
    t.equal((await raw(`/~/${name}`)).status, 404, name);
});
