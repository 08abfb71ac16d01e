import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { readArguments } from '../src/bench/arguments.ts';
import { openBench } from '../src/bench/bench.ts';
import { gradeOf, type Line } from '../src/bench/bench-row.ts';
import { report } from '../src/bench/report.ts';
import { ROWS } from '../src/bench/rows.ts';
import { interleaved, lowerQuartile } from '../src/bench/windows.ts';

// slow: 6 s

// That the bench measures at all: its arguments, its arithmetic, and one tiny window of rows that start everything there
// is to start. What it measures is no test's business.

const course = {
  windows: 1,
  windowMs: 50,
  soakMinutes: 1,
  batch: { rows: 40, kills: 2 },
  signal: new AbortController().signal,
  onWindow: () => {},
};

t.test('rows are chosen by name, long ones only by name', async (t) => {
  t.same(
    readArguments(['--only', 'status, queue']).rows.map(({ id }) => id),
    ['status', 'queue'],
  );
  t.notOk(readArguments([]).rows.some(({ long }) => long));
  t.equal(readArguments(['--', '--windows', '7', '--json']).windows, 7);
  for (const wrong of [
    ['--only', 'nothing'],
    ['--windows', '0'],
    ['--window-ms', 'x'],
    ['--what'],
    ['--peer', '--only', 'life'],
  ])
    t.throws(() => readArguments(wrong), {
      message: /there is no row|is a whole number|Unknown option|give no --only/,
    });
  t.equal(new Set(ROWS.map(({ id }) => id)).size, ROWS.length);
});

t.test('contenders are measured in turn, and the lower quartile counts', async (t) => {
  const order: string[] = [];
  const contender = (name: string) => async () => {
    order.push(name);
    return { cpu: order.length };
  };
  const found = await interleaved({ a: contender('a'), b: contender('b') }, { ...course, windows: 3 });
  t.same(order, ['a', 'b', 'b', 'a', 'a', 'b']);
  t.equal(found.a!.cpu, lowerQuartile([1, 4, 5]));
  t.equal(lowerQuartile([4, 1, 3, 2, 5]), 2);
});

t.test('a verdict says which target was met', async (t) => {
  const line: Line = {
    quantity: 'q',
    ours: '',
    baseline: '',
    value: 0.5,
    unit: ' H',
    better: 'higher',
    must: 0.4,
    stretch: 1,
  };
  t.equal(gradeOf(line), 'target');
  t.equal(gradeOf({ ...line, value: 1 }), 'stretch');
  t.equal(gradeOf({ ...line, value: 0.35 }), 'within slack');
  t.equal(gradeOf({ ...line, value: 0.1 }), 'short');
  t.equal(gradeOf({ ...line, value: Number.NaN }), 'short');
  t.equal(gradeOf({ ...line, value: 2, better: 'lower', must: 1, stretch: null }), 'short');
  t.equal(gradeOf({ ...line, must: null }), 'info');
  t.match(report([line])[1], /0\.50 H .*>= 0\.4 H .*target$/);
});

t.test('one tiny window of everything that is started', async (t) => {
  const databaseUrl = requireEnv('TEST_DATABASE_URL');
  const redisUrl = requireEnv('TEST_REDIS_URL');
  await using bench = await openBench({ databaseUrl, redisUrl, bundles: undefined });
  for (const id of ['sync', 'status', 'worker']) {
    const row = ROWS.find((row) => row.id === id)!;
    for (const { quantity, value, must } of await row.measure(bench, course))
      if (must !== null) t.ok(value !== null && value > 0, `${quantity} is measured`);
  }
});
