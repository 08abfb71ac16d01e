import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { readArguments } from '../src/replay/arguments.ts';
import { calibrate } from '../src/replay/calibration.ts';
import { calibrationPlot } from '../src/replay/calibration-plot.ts';
import { FIVE, voteText } from './recorded-votes.ts';

// slow: 20 s

const MAIN = fileURLToPath(new URL('../src/replay/main.ts', import.meta.url));
const PANEL = FIVE.join(',');

function replay(...args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
}

t.test('the command line', async (t) => {
  t.same(readArguments(['--votes', 'v.csv']), {
    votes: 'v.csv',
    threshold: 0.95,
    order: 'shuffled',
    live: null,
    batch: false,
    json: false,
  });
  t.match(readArguments(['--', '--vectors', 'v.json', '--json', '--threshold', '0.8']), {
    json: true,
    threshold: 0.8,
  });
  for (const threshold of ['2', '-0.1', 'high', ''])
    t.throws(() => readArguments(['--votes', 'v', `--threshold=${threshold}`]), /from 0 to 1/);
  t.throws(() => readArguments([]), /name a file/);
  t.throws(() => readArguments(['--votes', 'v', '--verbose']), /--verbose/);
});

t.test('replay prints tables, writes the plot and knows JSON', async (t) => {
  const folder = t.testdir({ 'votes.csv': voteText(FIVE, ['AAAAA', 'AABB-', 'BBBBA', 'AAAA.']) });
  const votes = join(folder, 'votes.csv');
  const plot = join(folder, 'plot.svg');

  const text = await replay('--votes', votes, '--roster', PANEL, '--svg', plot);
  t.equal(text.code, 0, text.err);
  t.equal(text.err, '', 'no progress where there is no terminal');
  t.match(text.out, /5 models of 5 families, 3 polls \(1 left out: not put to every model\), threshold 0\.95/);
  for (const line of [
    'lock only',
    'EloquentPoll',
    'Adaptive-Consistency (Beta)',
    'ESC, window 3',
    'need + 1',
    'sequential',
  ])
    t.ok(text.out.includes(line), line);
  const svg = await readFile(plot, 'utf8');
  t.ok(svg.startsWith('<svg ') && svg.endsWith('</svg>\n'));

  const json = JSON.parse((await replay('--votes', votes, '--roster', PANEL, '--json', '--threshold', '1')).out);
  t.match(json, { votes, threshold: 1, vectors: null, panels: [{ polls: 3, leftOut: 1, families: 5 }] });
  t.same(json.panels[0].rules.length, 5);
  t.same(json.panels[0].fanOuts.length, 5);
});

t.test('what cannot be replayed is one line and exit code 1 [§I3-vote-file-format]', async (t) => {
  const folder = t.testdir({
    'wrong.csv': 'question,answer\n1,A\n',
    'unasked.csv': voteText(FIVE, ['AAAA.']),
    'other.json': '{"vectors": [{}]}',
    'false.json': JSON.stringify({
      vectors: [
        { votes: [0, 2], remaining: 2, leader: 1, locked: false, confidence: '1/2', confidence_failure_rate_0_1: null },
      ],
    }),
  });
  const failing = async (args: readonly string[], message: RegExp) => {
    const { code, out, err } = await replay(...args);
    t.equal(code, 1);
    t.equal(out, '');
    t.match(err, message);
    t.equal(err.trim().split('\n').length, 1, err);
  };
  await failing(['--votes', join(folder, 'wrong.csv')], /wrong\.csv:1: expected a comment/);
  await failing(['--votes', join(folder, 'nothing.csv')], /nothing\.csv/);
  await failing(['--votes', join(folder, 'unasked.csv')], /no model gemini-1\.5-pro-002/);
  await failing(['--votes', join(folder, 'unasked.csv'), '--roster', PANEL], /no question was put to every model/);
  await failing(['--vectors', join(folder, 'other.json')], /other\.json: vector 1/);

  const usage = await replay('--threshold', '2', '--votes', 'v');
  t.equal(usage.code, 2);
  t.match(usage.err, /usage: npm run replay/);
  const differing = await replay('--vectors', join(folder, 'false.json'));
  t.equal(differing.code, 1);
  t.match(differing.out, /1 figures missing in the file, .* FAIL/);
});

t.test('the plot', async (t) => {
  const calibration = calibrate([
    { confidence: 0.5, cameTrue: true },
    { confidence: 0.5, cameTrue: false },
    { confidence: 1, cameTrue: true },
  ]);
  const svg = calibrationPlot([
    { name: '<b> & co', calibration },
    { name: 'two', calibration },
  ]);
  t.notMatch(svg, /<b>/, 'names are text');
  t.ok(svg.includes('&#60;b&#62; &#38; co: calibration error 0.000'));
  t.equal(svg.match(/<circle /g)?.length, 4);
  t.ok(svg.includes('points="240,240 416,64"'), 'from the middle to the upper right corner');
});
