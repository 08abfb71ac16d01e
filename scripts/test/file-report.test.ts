import t from 'tap';
import { FileReport } from '../testing/file-report.ts';

// The count at the end of `npm test`: what did not run and pass is failed.

function reported(tap: string, fault: string | null = null) {
  const lines: string[] = [];
  const report = new FileReport('a.test.ts', (line) => lines.push(line));
  for (const line of `TAP version 14\n${tap}`.split('\n')) report.line(line);
  return { totals: report.end({ fault, ms: 1_250 }), text: lines.join('\n'), failures: report.failures };
}

t.test('tests are counted, not assertions', async (t) => {
  const { totals, text } = reported(
    '# Subtest: one\n    ok 1 - a\n    ok 2 - b\n    1..2\nok 1 - one # time=2ms\nok 2 - two # time=1ms\n1..2',
  );
  t.same(totals, { passed: 2, failed: 0 });
  t.match(text, /✓ a\.test\.ts +2 passed +1\.3 s/);
});

t.test('a failure is shown with its reason', async (t) => {
  const { totals, text, failures } = reported(
    '# Subtest: one\n    not ok 1 - equal\n      ---\n      diff: |\n        -2\n        +1\n      ...\n    1..1\nnot ok 1 - one\n1..1',
    'ended with code 1',
  );
  t.same(totals, { passed: 0, failed: 1 }, 'the exit code is not counted again');
  t.match(text, /✗ a\.test\.ts > one > equal\n[\s\S]*-2\n[\s\S]*\+1/);
  t.match(
    failures.join('\n'),
    /✗ a\.test\.ts > one > equal\n[\s\S]*-2\n[\s\S]*\+1/,
    'and kept for the end of a run of many files',
  );
});

for (const [what, tap, fault, passed, sentence] of [
  ['a skipped test', 'ok 1 - one\nok 2 - two # SKIP not today\n1..2', null, 1, 'a.test.ts > two was not run (skip)'],
  ['a test to do', 'not ok 1 - one # TODO later\n1..1', null, 0, 'a.test.ts > one was not run (todo)'],
  ['a file without tests', '1..0', null, 0, 'a.test.ts has no tests'],
  ['a file that prints nothing', '', null, 0, 'a.test.ts has no tests'],
  ['a file that died', 'ok 1 - one\n1..1', 'ended with code 7', 1, 'a.test.ts ended with code 7'],
  ['a file that died before its plan', 'ok 1 - one', null, 1, 'a.test.ts printed TAP with a fault: no plan'],
  ['a file that ran less than planned', 'ok 1 - one\n1..2', null, 1, 'a.test.ts printed TAP with a fault'],
  ['a file that gave up', 'ok 1 - one\nBail out! no disk', null, 1, 'a.test.ts gave up: no disk'],
] as const)
  t.test(`${what} is a failure`, async (t) => {
    const { totals, text, failures } = reported(tap, fault);
    t.same(totals, { passed, failed: 1 });
    t.ok(text.includes(`✗ ${sentence}`), text);
    t.ok(failures.join('\n').includes(`✗ ${sentence}`), text);
  });
