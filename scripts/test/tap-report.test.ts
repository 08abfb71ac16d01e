import t from 'tap';
import { TapReport } from '../testing/tap-report.ts';

// The count at the end of `npm test`: whatever did not run and pass is failed.

function reported(tap: string) {
  const lines: string[] = [];
  const tapReport = new TapReport((line) => lines.push(line));
  for (const line of `TAP version 14\n${tap}`.split('\n')) tapReport.line(line);
  return { totals: tapReport.end(), text: lines.join('\n') };
}

const file = (name: string, inside: string, ok = 'ok') =>
  `# Subtest: ${name}\n${inside.replace(/^/gm, '    ')}\n${ok} 1 - ${name} # time=12ms\n`;

t.test('tests are counted, not assertions', async (t) => {
  const one =
    '# Subtest: one\n    ok 1 - a\n    ok 2 - b\n    1..2\nok 1 - one # time=2ms\nok 2 - two # time=1ms\n1..2';
  const { totals, text } = reported(`${file('a.test.ts', one)}1..1`);
  t.same(totals, { passed: 2, failed: 0 });
  t.match(text, /✓ a\.test\.ts +2 passed +0\.0 s/);
});

t.test('a failure is shown with its reason', async (t) => {
  const inside =
    '# Subtest: one\n    not ok 1 - equal\n      ---\n      diff: |\n        -2\n        +1\n      ...\n    1..1\nnot ok 1 - one\n1..1';
  const { totals, text } = reported(`${file('a.test.ts', inside, 'not ok')}1..1`);
  t.same(totals, { passed: 0, failed: 1 });
  t.match(text, /✗ a\.test\.ts > one > equal\n[\s\S]*-2\n[\s\S]*\+1/);
});

for (const [what, tap, passed] of [
  ['a skipped test', `${file('a.test.ts', 'ok 1 - one\nok 2 - two # SKIP not today\n1..2')}1..1`, 1],
  ['a test to do', `${file('a.test.ts', 'not ok 1 - one # TODO later\n1..1')}1..1`, 0],
  ['a file without tests', 'ok 1 - a.test.ts # SKIP no tests found\n1..1', 0],
  ['a file that died', `${file('a.test.ts', 'ok 1 - one\n1..1', 'not ok')}1..1`, 1],
] as const)
  t.test(`${what} is a failure`, async (t) => {
    t.same(reported(tap).totals, { passed, failed: 1 });
  });

t.test('nothing at all is nothing', async (t) => {
  t.same(reported('1..0').totals, { passed: 0, failed: 0 });
});
