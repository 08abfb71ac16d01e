import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { runProgram } from '@eloquentpoll/services/run-program';
import t, { type Test } from 'tap';
import { decisionProblems } from '../checking/decisions.ts';
import { emptyPatterns } from '../checking/empty-patterns.ts';
import { ambiguousNames } from '../checking/exported-names.ts';
import { stalePrices } from '../checking/roster-prices.ts';
import { changelogProblems, versionProblems } from '../checking/versions.ts';
import { findWords } from '../checking/words.ts';
import { temporaryFolder } from './fixtures/run-fixture.ts';

function files(t: Test, texts: Record<string, string>): string {
  const folder = temporaryFolder(t);
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

t.test('words in comments, names, constants and documents are problems', async (t) => {
  const folder = files(t, {
    'src/a.ts': [
      '// Whoever asks is answered.',
      'const askNobody = 1;',
      'const NOBODY_MS = 2;',
      'const MOST_BYTES = 3;',
      'const told = 4;',
      'const fine = "told apart, design, roomy, outdoor";',
    ].join('\n'),
    'b.md': 'Nobody knows.',
  });
  const problems = findWords(folder, []);
  t.match(problems, [
    /^b\.md:1 says "Nobody"/,
    /^src\/a\.ts:1 says "Whoever"/,
    /^src\/a\.ts:2 says "Nobody"/,
    /^src\/a\.ts:3 says "NOBODY"/,
    /^src\/a\.ts:4 names a limit "MOST_B"/,
    /^src\/a\.ts:5 says "told"/,
  ]);
  t.equal(problems.length, 6);
});

t.test('a roster whose prices were read over a year ago, or at no known time, is a problem', async (t) => {
  const roster = (input: string, prices_read?: string) =>
    JSON.stringify({ prices_read, models: [{ price: { input, output: '0' } }] });
  const folder = files(t, {
    'packages/models/rosters/fresh.json': roster('1', '2026-07-02'),
    'packages/models/rosters/stale.json': roster('1', '2026-07-01'),
    'packages/models/rosters/silent.json': roster('1'),
    'packages/models/rosters/local.json': roster('0'),
    'packages/models/rosters/simulator.json': roster('5'),
  });
  t.match(stalePrices(folder, Date.parse('2027-07-02T12:00:00Z')), [
    /silent\.json does not say when its prices were read/,
    /stale\.json: its prices were read 366 days ago/,
  ]);
  t.equal(stalePrices(folder, Date.parse('2027-07-02T12:00:00Z')).length, 2);
});

t.test('an allowed place is no problem, and one that is gone is', async (t) => {
  const folder = files(t, { 'a.ts': "const NAME = 'front desk';\n// a desk\n" });
  const allow = (text: string) => [{ path: 'a.ts', text, reason: 'a name' }];
  const check = (text: string) => findWords(folder, allow(text));
  t.match(check("'front desk'"), [/^a\.ts:2 says "desk"/]);
  t.match(check('back desk'), [/a\.ts:1/, /a\.ts:2/, /allows "back desk" in a\.ts, which is not there any more/]);
});

t.test('an empty list in a pattern is a problem, and one in what is looked at is none', (t) => {
  const folder = files(t, {
    'apps/a/test/a.test.ts': [
      "t.match(found({ of: [] }, 'a, b'), { lines: [], more: false });",
      '  t.match(',
      '    await asked(),',
      '    [',
      '      [],',
      '    ],',
      '  );',
      'for (const one of all) t.match([one, two], [[], 1]);',
      't.match(await end(made, { of: [] }), {',
      "  kind: 'ended',",
      '});',
      't.match(found, { lines: { length: 0 }, more: [1] });',
      't.same(found, { lines: [] });',
    ].join('\n'),
    'apps/a/src/a.ts': 't.match(found, []);',
  });
  t.same(
    emptyPatterns(folder).map((problem) => problem.split(' ')[0]),
    [1, 2, 8].map((line) => `apps/a/test/a.test.ts:${line}`),
  );
  t.end();
});

t.test('a name that two files export is a problem, unless it is an exception', (t) => {
  const folder = files(t, {
    'apps/a/src/poll.ts': 'export const Poll = 1;\nexport type Poll = 2;\nexport interface Answer {}\n',
    'packages/b/src/ask.ts': 'export async function ask() {}\nexport class Answer {}\nfunction poll() {}\n',
    'packages/b/test/ask.ts': 'export const ask = 1;\n',
    'scripts/ask.ts': 'export abstract class Once {}\nexport { ask } from "b";\n',
  });
  t.same(ambiguousNames(folder, {}), ['Answer is exported by apps/a/src/poll.ts and packages/b/src/ask.ts']);
  t.same(ambiguousNames(folder, { Answer: 'one each' }), []);
  t.match(ambiguousNames(folder, { Answer: 'one each', Once: 'was one each' }), [/^Once is exported once/]);
  t.end();
});

t.test('a version that differs from package.json is named with its file', async (t) => {
  t.same(versionProblems(root), []);
  const folder = files(t, {
    'package.json': '{"version":"2.0.0"}',
    'scripts/package.json': '{"version":"2.0.1"}',
    'docs/api/openapi.json': '{"info":{"version":"2.0.0"}}',
    'docs/api/asyncapi.json': '{}',
    Dockerfile: 'LABEL org.opencontainers.image.version=1.9.0\n',
    'docker-compose.yml': 'image: eloquentpoll/gateway:2.0.0\nimage: eloquentpoll/worker\n',
    'infra/k8s/example/kustomization.yaml': '- { name: a, newTag: 2.0.0 }\n',
    'CHANGELOG.md': '## Pending\n- one\n',
  });
  t.same(versionProblems(folder), [
    'scripts/package.json has version 2.0.1, package.json has 2.0.0',
    'docs/api/asyncapi.json has version none, package.json has 2.0.0',
    'Dockerfile has version 1.9.0, package.json has 2.0.0',
    'docker-compose.yml has version none, package.json has 2.0.0',
  ]);
});

t.test('the changelog begins with Pending, which may be empty only after a release', async (t) => {
  const problems = (text: string) => changelogProblems(text, '2.1.0');
  t.same(problems('# C\n\n## Pending\n\n- a change\n'), []);
  t.same(problems('## Pending\n\n## 2.1.0 - 2026-01-31\n- a change\n'), []);
  t.match(problems('## Pending\n\n## 2.0.0 - 2026-01-31\n- a change\n'), [/2\.1\.0 is not released/]);
  t.match(problems('## 2.1.0 - 2026-01-31\n'), [/must begin with a section "## Pending"/]);
  t.match(problems('## Pending\n- a\n\n## 2.0\n'), [/"2\.0" must be/]);
});

t.test('a decision that the index lacks, and a line without its decision, are problems', async (t) => {
  t.same(decisionProblems(root), []);
  const folder = files(t, {
    'docs/decisions/0001-a.md': '# 0001: One\n',
    'docs/decisions/0002-b.md': '# 0002: Two\n',
    'docs/decisions/README.md': '# Decisions\n\n- [0001: One](0001-a.md)\n- [0002: Too](0002-b.md)\n',
  });
  t.same(decisionProblems(folder), [
    'docs/decisions/README.md lacks the line: - [0002: Two](0002-b.md)',
    'docs/decisions/README.md has a line for another title or no file: - [0002: Too](0002-b.md)',
  ]);
});

t.test('check with an unknown name lists the names and fails', async (t) => {
  const check = join(root, 'scripts/check.ts');
  const { ok, output } = await runProgram(process.execPath, [check, 'speling'], { cwd: root }, 30_000);
  t.notOk(ok);
  t.match(output, /There is no check speling/);
  for (const name of ['types', 'words', 'format', 'secrets']) t.match(output, new RegExp(`^ {2}${name}`, 'm'));
});
