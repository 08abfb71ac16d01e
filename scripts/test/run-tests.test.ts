import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t, { type Test } from 'tap';
import { longestFirst } from '../testing/durations.ts';
import { needsOf } from '../testing/needs.ts';
import { slowSeconds } from '../testing/slow-tag.ts';
import { selectFiles } from '../testing/test-files.ts';

// slow: 6 s

// `npm test` itself: which files it chooses, in which order, with which services, and what it says at the end.

const TAP = JSON.stringify(import.meta.resolve('tap'));

function testFile(t: Test, source: string): string {
  return join(t.testdir({ 'given.test.ts': `import t from ${TAP};\n${source}` }), 'given.test.ts');
}

function npmTest(...args: string[]): Promise<{ code: number | null; output: string }> {
  // tap's own variables would make the inner run part of this one.
  const { TAP: _tap, TAP_CHILD_ID: _id, TAP_TIMEOUT: _timeout, TEST_RUN: _run, ...env } = process.env;
  const child = spawn(process.execPath, [join(root, 'scripts/test.ts'), ...args], { cwd: root, env });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

t.test('a file of pure code that passes: no service, one line, exit code 0', async (t) => {
  const { code, output } = await npmTest(testFile(t, "t.test('one', async (t) => t.equal(1, 1));"));
  t.equal(code, 0, output);
  t.match(output, /given\.test\.ts +1 passed/);
  t.match(output, /\n1 passed, 0 failed\n$/);
  t.notMatch(output, /services|template|browser/);
});

t.test('a file that fails: its reason, exit code 1', async (t) => {
  const { code, output } = await npmTest(testFile(t, "t.test('one', async (t) => t.equal(1, 2, 'sum'));"));
  t.equal(code, 1);
  t.match(output, /✗ .*given\.test\.ts > one > sum/);
  t.match(output, /\n0 passed, 1 failed\n$/);
});

t.test('a file that never ends is killed at its limit and named', async (t) => {
  const { code, output } = await npmTest('--timeout=1', testFile(t, "t.test('endless', async () => { for (;;); });"));
  t.equal(code, 1);
  t.match(output, /given\.test\.ts was killed after \d+ s/);
  t.match(output, /\n0 passed, 1 failed\n$/);
});

t.test('a process that a test leaves behind is a failure', async (t) => {
  const leave = "import { spawn } from 'node:child_process';";
  const source = `${leave}\nt.test('one', async () => {
    const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    child.unref();
  });`;
  const { code, output } = await npmTest(testFile(t, source));
  t.equal(code, 1);
  t.match(output, /✗ process \d+ was left: sleep 60/);
  t.match(output, /\n1 passed, 1 failed\n$/);
});

t.test('a file that compares times runs when all others have ended', async (t) => {
  const other = `import { writeFileSync } from 'node:fs';
    t.test('other', async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      writeFileSync(new URL('ended', import.meta.url), '');
    });`;
  const comparing = `// alone: for this test
    import { existsSync } from 'node:fs';
    t.test('one', async (t) => t.ok(existsSync(new URL('ended', import.meta.url)), 'the other has ended'));`;
  const imported = `import t from ${TAP};\n`;
  const folder = t.testdir({ 'a.test.ts': `${imported}${other}`, 'b.test.ts': `${imported}${comparing}` });
  const { code, output } = await npmTest(join(folder, 'b.test.ts'), join(folder, 'a.test.ts'));
  t.equal(code, 0, output);
});

t.test('a file that is not there: nothing is run, which is a failure', async (t) => {
  const { code, output } = await npmTest('no/such.test.ts');
  t.equal(code, 1);
  t.match(output, /There is no test file no\/such\.test\.ts\./);
  t.match(output, /\n0 passed, 1 failed\n$/);
});

t.test('an unknown option and a time limit that is no number are refused', async (t) => {
  t.throws(() => selectFiles(['--bail']), { message: /Unknown option '--bail'.*Use: npm test/s });
  t.throws(() => selectFiles(['--timeout=long']), { message: /--timeout=long is not a number of seconds/ });
});

t.test('all files are chosen; a folder chooses the files in it; a quick run leaves the slow ones out', async (t) => {
  const all = selectFiles([]);
  t.notOk(all.named);
  for (const file of ['packages/voting/test/tally.test.ts', 'scripts/test/run-tests.test.ts'])
    t.ok(all.files.includes(file), file);
  t.notOk(all.files.some((file) => file.includes('node_modules')));
  const voting = selectFiles(['packages/voting']);
  t.same(
    voting.files,
    all.files.filter((file) => file.startsWith('packages/voting/')),
  );
  t.ok(voting.named);
  const quick = selectFiles(['--quick']);
  t.same(
    all.files.filter((file) => !quick.files.includes(file)),
    all.files.filter((file) => slowSeconds(join(root, file)) !== null),
  );
  t.equal(quick.leftOut, all.files.length - quick.files.length);
  t.ok(quick.leftOut > 0);
});

t.test('the longest file is started first: as measured, or else as tagged', async (t) => {
  const slow = selectFiles([]).files.find((file) => (slowSeconds(join(root, file)) ?? 0) > 5) ?? '';
  const files = ['packages/voting/test/tally.test.ts', slow, 'packages/voting/test/urn.test.ts'];
  t.equal(longestFirst(files, {})[0], slow);
  t.same(longestFirst(files, { 'packages/voting/test/urn.test.ts': 90_000 }), [
    'packages/voting/test/urn.test.ts',
    slow,
    'packages/voting/test/tally.test.ts',
  ]);
});

t.test('a slow file says its seconds; a tag that cannot be read is refused', async (t) => {
  t.equal(slowSeconds(testFile(t, '// slow: 18 s\n')), 18);
  t.equal(slowSeconds(testFile(t, "t.test('a slow reader', async () => {});")), null);
  t.throws(() => slowSeconds(testFile(t, '// slow: very\n')), { message: /says "\/\/ slow: very"/ });
});

t.test('files need the services that what they import asks for', async (t) => {
  const needs = (...files: string[]) => [...needsOf(files.map((file) => join(root, file)))].sort();
  t.same(needs('packages/voting/test/tally.test.ts', 'packages/contracts/test/shapes.test.ts'), []);
  t.same(needs('packages/storage/test/ledger.test.ts'), ['postgres'], 'through its fixtures');
  t.same(needs('packages/bus/test/bus.test.ts'), ['redis']);
  t.same(needs('packages/voting/test/tally.test.ts', 'packages/testkit/test/browser.test.ts'), ['browser']);
});
