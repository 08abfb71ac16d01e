import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';
import { PLANS, type PlanName } from '../src/faults/plans.ts';
import { RULES_OF_ALL } from '../src/faults/rules.ts';
import { boundText, figureOf } from '../src/proof/figure.ts';
import { proofPage, withoutStandings } from '../src/proof/page.ts';
import type { ProofRow } from '../src/proof/proof-row.ts';
import { committedCode, openRevisions, presentRevision } from '../src/proof/revisions.ts';
import { PROOF_ROWS, SECTIONS } from '../src/proof/rows.ts';
import { type Run, readRuns } from '../src/proof/run.ts';
import { readSources } from '../src/proof/sources.ts';

// slow: 5 s

const execute = promisify(execFile);

const ROW: ProofRow = {
  id: 'T0',
  says: 'Nothing breaks',
  target: '0 of 100',
  command: 'npm run chaos',
  covers: ['apps/worker/src'],
  experiments: ['chaos made-up'],
  rate: { failures: ['lost', 'doubled'], of: 'polls' },
  needs: [{ what: 'losses', atLeast: 3, of: ['flush', 'kill'] }],
  short: { tried: 'this', takes: 'that' },
};

const PLAN_NAMES = Object.keys(PLANS) as PlanName[];
const SIZES = { minutes: 1, kills: 1, stops: 1, polls: 1, workers: 3 };

let seeds = 0;
const runOf = (more: Partial<Run> = {}): Run => ({
  experiment: 'chaos made-up',
  at: '2026-11-20T10:00:00.000Z',
  revision: '0123456789ab',
  seed: `seed ${seeds++}`,
  cores: 2,
  command: 'npm run chaos',
  holds: true,
  counts: { polls: 100, lost: 0, doubled: 0 },
  faults: { flush: 1 },
  ...more,
});

t.test('docs/proof.md is what its sources say', async (t) => {
  const page = await proofPage({ ...(await readSources()), sections: SECTIONS, revisions: await openRevisions(root) });
  const committed = readFileSync(join(root, 'docs/proof.md'), 'utf8');
  t.equal(withoutStandings(page), withoutStandings(committed), 'changed on purpose? run: npm run proof');
});

t.test('every row covers what is there, and says what it would take exactly where it is short', async (t) => {
  const { runs } = await readSources();
  const names = new Set(PROOF_ROWS.flatMap(({ id, experiments = [] }) => [id, ...experiments]));
  for (const { experiment, command } of runs)
    if (!/^(fuzz|attack|simulate|chaos) /.test(experiment)) t.ok(names.has(experiment), `${experiment}: ${command}`);
  t.equal(new Set(PROOF_ROWS.map(({ id }) => id)).size, PROOF_ROWS.length, 'an id names one row');
  for (const row of PROOF_ROWS) {
    const figure = figureOf(row, runs);
    t.ok(figure.runs.length > 0, `${row.id} was measured`);
    t.ok(figure.isReached || row.short, `${row.id} is short: ${figure.text}, ${figure.missing}`);
    for (const path of row.covers) t.ok(existsSync(join(root, path)), `${row.id} covers ${path}`);
  }
});

t.test('runs add up to a figure with its bound, and each seed of a revision counts once', async (t) => {
  const three = [runOf(), runOf({ faults: { kill: 2 } }), runOf({ experiment: 'T0', faults: {} })];
  t.match(figureOf(ROW, three), { text: '0 of 300 polls', isReached: true, missing: { length: 0 } });
  t.equal(boundText(figureOf(ROW, three).bound), '≤ 1 %', 'the rule of three, .994 %');
  t.match(figureOf(ROW, [...three, { ...three[0]!, counts: { polls: 999, lost: 0 } }]), { text: '0 of 300 polls' });
  t.match(figureOf(ROW, [...three, { ...three[0]!, revision: 'ba9876543210' }]), { text: '0 of 400 polls' });
  t.match(figureOf(ROW, [...three, { ...three[2]!, seed: null }, { ...three[2]!, seed: null }]), {
    text: '0 of 500 polls',
  });
  t.match(figureOf(ROW, three.slice(0, 1)), { isReached: false, missing: ['1 of 3 losses'] });
  const broken = figureOf(ROW, [...three, runOf({ counts: { polls: 100, lost: 1, doubled: 1 } })]);
  t.match(broken, { text: '2 of 400 polls', isReached: false });
  t.equal(boundText(broken.bound), '≤ 1.6 %');
  const beside = { ...ROW, none: ['alarms fired'] };
  const [quiet] = [{ ...three[0]!, counts: { polls: 100, lost: 0, 'alarms fired': 0 } }];
  t.match(figureOf(beside, [quiet, ...three.slice(1)]), { text: '0 of 300 polls; 0 alarms fired', isReached: true });
  const alarmed = figureOf(beside, [...three, runOf({ counts: { polls: 100, lost: 0, 'alarms fired': 2 } })]);
  t.match(alarmed, { text: '0 of 400 polls; 2 alarms fired', isReached: false }, 'an alarm is no wrong poll');
  t.equal(boundText(alarmed.bound), '≤ 0.75 %');
  t.equal(boundText(0.0103), '≤ 1.1 %', 'a bound is rounded up, as 1.03 % does not keep to 1 %');
  const rate = { ...ROW.rate!, atMost: 0.02 };
  t.ok(figureOf({ ...ROW, rate }, [...three, runOf({ counts: { polls: 100, lost: 2 } })]).isReached);
  t.notOk(figureOf({ ...ROW, rate }, [...three, runOf({ counts: { polls: 100, lost: 5 } })]).isReached);
  t.match(figureOf(ROW, [runOf({ counts: { calls: 5 }, figure: 'p99 1 s' })]), { text: 'not measured', bound: null });
  const byHand = runOf({ experiment: 'T0', counts: {}, figure: '3 of 34' });
  t.match(
    figureOf({ ...ROW, rate, needs: [] }, [byHand]),
    { text: '3 of 34', bound: null, isReached: false },
    'no bound',
  );
  const { rate: _, needs: __, ...plain } = ROW;
  const by = (at: string, figure: string, holds = true) => runOf({ at, figure, holds });
  const days = [by('2026-11-20', 'new', false), by('2026-11-19', 'old')];
  t.match(figureOf(plain, days), { text: 'new', isReached: false, newest: days[0] }, 'the newest counts');
});

t.test('runs since a fault was mended are judged by themselves, and those before stay on the page', async (t) => {
  const row = { ...ROW, mended: { at: '2026-11-20T12:00:00.000Z', what: 'leases are renewed in time (0054)' } };
  const before = runOf({ counts: { polls: 100, lost: 4 }, faults: { kill: 3 } });
  t.match(figureOf(row, [before]), { text: '4 of 100 polls', isReached: false, before: null }, 'until there is one');
  const after = runOf({ at: '2026-11-20T12:00:00.000Z', faults: { kill: 2 } });
  const short = { text: '0 of 100 polls', isReached: false, missing: ['2 of 3 losses'], before: '4 of 100 polls' };
  t.match(figureOf(row, [before, after]), short, 'the size is needed again');
  const runs = [before, after, { ...after, seed: 'another' }];
  t.match(figureOf(row, runs), { text: '0 of 200 polls', isReached: true, before: '4 of 100 polls' });
  const page = await proofPage({
    sections: [{ title: 'All', rows: [row] }],
    ...{ runs, notes: new Map(), revisions: null },
  });
  t.match(page, '- Before 2026-11-20: 4 of 100 polls. Then fixed: leases are renewed in time (0054)');
  const broken = [...runs, { ...after, seed: 'broken', counts: { polls: 10, lost: 1 } }];
  t.match(figureOf(row, broken), { text: '1 of 210 polls', isReached: false });
  const { rate: _, needs: __, ...plain } = row;
  const slow = runOf({ figure: '9 ms', holds: false, note: '' });
  const fast = runOf({ at: '2026-11-21', figure: '1 ms' });
  t.match(
    figureOf(plain, [slow, fast]),
    { text: '1 ms', isReached: true, before: '9 ms', runs: [fast] },
    'without a rate',
  );
  t.match(figureOf(plain, [slow]), { text: '9 ms', isReached: false, before: null });
});

t.test('a run that did not hold makes its row short, whatever it counted, unless its cause was mended', async (t) => {
  const held = [runOf(), runOf({ faults: { kill: 2 } })];
  const note = '1 x polls end: p1';
  const broken = runOf({ holds: false, note });
  t.match(figureOf(ROW, [...held, broken]), {
    text: '0 of 300 polls; 1 of 3 runs did not hold',
    isReached: false,
    unheld: [broken],
  });
  const uncounted = { ...broken, counts: { violations: 1 } };
  const silent = figureOf(ROW, [...held, uncounted]);
  t.match(silent, { isReached: false, unheld: [uncounted] }, 'also one that got to no poll');
  t.equal(silent.text, '0 of 200 polls; 1 of 3 runs did not hold');
  const share = { ...ROW, rate: { ...ROW.rate!, atMost: 0.05 } };
  t.match(figureOf(share, [...held, broken]), { text: '0 of 300 polls', isReached: true }, 'a share is that of all');
  const byHand = { ...uncounted, experiment: 'T0', counts: {} };
  t.match(figureOf(ROW, [...held, byHand]), { isReached: true }, 'a figure by hand without counts is none');
  const mended = { at: '2026-11-21', what: 'leases (0054)' };
  const since = { ...held[0]!, at: '2026-11-21', seed: 'since', faults: { kill: 3 } };
  const after = figureOf({ ...ROW, mended }, [...held, broken, since]);
  t.match(after, { text: '0 of 100 polls', isReached: true, before: '0 of 300 polls; 1 of 3 runs did not hold' });
  t.equal(after.text, '0 of 100 polls');
  const page = async (row: ProofRow, runs: Run[]) =>
    proofPage({ sections: [{ title: 'All', rows: [row] }], runs, notes: new Map(), revisions: null });
  t.match(await page(ROW, [...held, broken]), `- 2026-11-20, 0123456789ab, did not hold: ${note}`);
  const other = { ...broken, experiment: 'chaos other' };
  const two = { ...ROW, experiments: ['chaos made-up', 'chaos other'], mended: { ...mended, of: ['chaos other'] } };
  t.match(figureOf(two, [...held, other]), { isReached: false, before: null }, 'until there is one of that kind since');
  const sinceOther = { ...other, seed: 'since', holds: true, at: '2026-11-21', counts: {} };
  t.match(figureOf(two, [...held, other, sinceOther]), {
    text: '0 of 200 polls',
    isReached: true,
    before: '0 of 100 polls; 1 of 1 run did not hold',
  });
});

t.test(
  'a row that names its rules is short where one of them was broken, or where it is not known which',
  async (t) => {
    const row = { ...ROW, rules: ['polls end'], needs: [] };
    const reached = (broken?: Record<string, number>) =>
      figureOf(row, [runOf(), runOf({ holds: false, ...(broken && { broken }) })]).isReached;
    t.same([reached({ 'texts are gone': 2 }), reached({ 'polls end': 1 }), reached()], [true, false, false]);
    for (const { id, rules = [], experiments = [] } of PROOF_ROWS) {
      const names = RULES_OF_ALL.concat(PLAN_NAMES.flatMap((name) => PLANS[name](SIZES).rules)).map(({ name }) => name);
      for (const rule of rules) t.ok(names.includes(rule), `${id}: ${rule} is a rule of ${experiments}`);
    }
  },
);

t.test('what runs of before did not count is not called 0 of them', async (t) => {
  const row = { ...ROW, none: ['violations'], needs: [] };
  const counting = runOf({ counts: { polls: 100, lost: 0, violations: 0 } });
  t.equal(figureOf(row, [counting]).text, '0 of 100 polls; 0 violations');
  t.equal(figureOf(row, [runOf()]).text, '0 of 100 polls; violations not counted');
  t.equal(figureOf(row, [counting, runOf()]).text, '0 of 200 polls; 0 violations (1 of 2 runs count them)');
  const broken = runOf({ counts: { polls: 100, lost: 0, violations: 2 } });
  t.match(figureOf(row, [counting, broken]), { text: '0 of 200 polls; 2 violations', isReached: false });
});

t.test('what the rate leaves out is shown beside it, and does not decide', async (t) => {
  const row = { ...ROW, beside: ['sent too late'], needs: [] };
  const runs = [runOf({ counts: { polls: 100, lost: 0, 'sent too late': 3 } }), runOf({ note: '' })];
  const text = '0 of 200 polls; 3 sent too late (1 of 2 runs count them)';
  t.match(figureOf(row, runs), { text, brief: '0 of 200 polls', isReached: true });
  const page = await proofPage({
    sections: [{ title: 'All', rows: [row] }],
    ...{ runs, notes: new Map(), revisions: null },
  });
  t.match(page, '| 0 of 200 polls |', 'the table leaves it to the details');
  t.match(page, `- Figure: ${text}`);
  t.notMatch(page, '0123456789ab: \n', 'a run without a note has no line');
});

t.test('what one long run has to show is not shown by several short ones', async (t) => {
  const row = { ...ROW, needs: [{ what: 'minutes', atLeast: 120, isOfOneRun: true }] };
  const lasting = (minutes: number) => runOf({ counts: { polls: 100, lost: 0, minutes } });
  const short = figureOf(row, [lasting(60), lasting(60), lasting(5)]);
  t.match(short, { isReached: false, missing: ['60 of 120 minutes'] });
  t.ok(figureOf(row, [lasting(60), lasting(120)]).isReached);
  t.match(figureOf(row, []), { isReached: false, missing: ['0 of 120 minutes'] });
});

t.test('a file that holds something else is refused by its line', async (t) => {
  const folder = t.testdir({
    'a.jsonl': `${JSON.stringify(runOf())}\n{"experiment"`,
    'b.jsonl': '{"experiment":"x"}\n',
  });
  await t.rejects(readRuns(join(folder, 'a.jsonl')), /a\.jsonl:2 is no JSON/);
  await t.rejects(readRuns(join(folder, 'b.jsonl')), /b\.jsonl:1: \/at/);
  t.same(await readRuns(join(folder, 'none.jsonl')), []);
});

t.test('a row is stale once what it covers has changed, committed or not', async (t) => {
  const folder = t.testdir({ apps: { worker: { src: { 'a.ts': '1' } }, other: { 'b.ts': '1' } } });
  const git = async (...args: string[]) =>
    (await execute('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args])).stdout.trim();
  const commit = async () => {
    await git('add', '-A');
    await git('commit', '-qm', 'x');
    return presentRevision(folder);
  };
  t.same([await presentRevision(tmpdir()), await openRevisions(tmpdir())], [null, null], 'there is no repository');
  await git('init', '-q');
  const measured = (await commit())!;
  const standing = async (revision: string | null = measured, digest: string | null = null) =>
    (await openRevisions(folder))!.standingOf({ revision, digest, paths: ROW.covers });
  const digest = (await committedCode(folder))(ROW.covers);
  t.equal(await standing(), 'current');
  writeFileSync(join(folder, 'apps/other/b.ts'), '2');
  t.equal(await presentRevision(folder), null, 'changed and not committed');
  await commit();
  t.equal(await standing(), 'current');
  t.equal(await standing('ffffffffffff', digest), 'current', 'the same code in another history');
  const page = async (...more: Run[]) => {
    const sections = [{ title: 'All', rows: [ROW] }];
    const runs = [runOf({ revision: measured }), ...more];
    return proofPage({ sections, runs, notes: new Map(), revisions: await openRevisions(folder) });
  };
  const before = await page();
  t.match(before, /\| as measured \|\n/);
  t.match(await page(runOf({ revision: null })), /\| as measured, 1 of 2 runs \|\n/, 'the other is of unknown code');
  writeFileSync(join(folder, 'apps/worker/src/a.ts'), '2');
  t.equal(await standing(), 'stale');
  t.equal(await standing(measured, digest), 'stale');
  await commit();
  t.equal(await standing(measured, digest), 'stale');
  const after = await page();
  t.match(
    after,
    '| \\[T0\\](#t0-nothing-breaks) | Nothing breaks | \\*\\*short:\\*\\* 0 of 100 polls | ≤ 3 % | \\*\\*stale\\*\\* by 2 lines |'.replaceAll(
      '\\',
      '',
    ),
  );
  t.match(after, `- Code: **stale** since ${measured}: 2 lines of 1 file changed, \`apps/worker/src/a.ts\` (2)\n`);
  const large = { 'b.ts': '1\n2\n3\n', 'c.ts': '1\n2\n', 'd.ts': '1\n' };
  for (const [name, text] of Object.entries(large)) writeFileSync(join(folder, 'apps/worker/src', name), text);
  await commit();
  const most = '8 lines of 4 files changed, most in `apps/worker/src/b.ts` (3), `apps/worker/src/a.ts` (2), ';
  t.match(await page(), `- Code: **stale** since ${measured}: ${most}`);
  t.equal(withoutStandings(after), withoutStandings(before), 'which the committed page does not have to follow');
  t.equal(await standing('ffffffffffff'), 'unknown', 'a commit that was rebased away');
  t.equal(await standing(null), 'unknown');
  const blind = await proofPage({
    sections: [{ title: 'All', rows: [ROW] }],
    runs: [],
    notes: new Map(),
    revisions: null,
  });
  t.match(blind, 'git was absent');
});

t.test('what rows cover outside of apps and packages counts as code does', async (t) => {
  const folder = t.testdir({ apps: { 'a.ts': '1' }, infra: { monitoring: { x: '1' } }, docs: { 'a.md': '1' } });
  const git = (...args: string[]) =>
    execute('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args]);
  await git('init', '-q');
  await git('add', '-A');
  await git('commit', '-qm', 'x');
  const paths = ['apps', 'infra/monitoring'];
  const measured = { revision: await presentRevision(folder), digest: (await committedCode(folder))(paths), paths };
  const standing = async () => (await openRevisions(folder))!.standingOf(measured);
  writeFileSync(join(folder, 'docs/a.md'), '2');
  t.same(
    [await presentRevision(folder), await standing()],
    [measured.revision, 'current'],
    'a document is not measured',
  );
  writeFileSync(join(folder, 'infra/monitoring/x'), '2');
  t.same([await presentRevision(folder), await standing()], [null, 'stale'], 'changed and not committed');
  await git('commit', '-qam', 'x');
  t.equal(await standing(), 'stale', 'changed and committed');
});

t.test('npm run simulate -- --continue adds its runs, and refuses a seed that would not count', async (t) => {
  const file = join(t.testdir(), 'runs.jsonl');
  const simulate = (seed: string) => {
    const main = join(root, 'packages/lab/src/simulate/main.ts');
    const options = ['--polls', '30', '--seed', seed, '--continue', file];
    return execute(process.execPath, [main, ...options]).catch((error) => error);
  };
  t.match(
    (await simulate('a')).stdout,
    /1 run of simulate polls\n {2}T9: 0 of 30 polls, ≤ 9\.6 %, 30 of 1,000,000 polls/,
  );
  t.match((await simulate('b')).stdout, /2 runs of simulate polls\n {2}T9: 0 of 60 polls/);
  const again = await simulate('a');
  t.match(again, { code: 2, stderr: /has simulate polls with seed a at this revision/ });
  t.match(await readRuns(file), [
    { experiment: 'simulate polls', seed: 'a', holds: true, counts: { polls: 30, violations: 0 }, cores: Number },
    { seed: 'b', command: 'npm run simulate -- --polls 30 --seed b' },
  ]);
});
