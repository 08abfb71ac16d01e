import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import t from 'tap';
import { readArguments } from '../src/growth/arguments.ts';
import { MEASURED } from '../src/growth/costs.ts';
import { planFor } from '../src/growth/plan.ts';
import { growthReport } from '../src/growth/report.ts';
import { waitForSlots } from '../src/growth/wait-for-slots.ts';
import { chance } from '../src/terminal/chance.ts';

const { terms } = readArguments([]);
const plan = (perSecond: number, more: Partial<Parameters<typeof planFor>[0]> = {}) =>
  planFor({ ...terms, costs: MEASURED, perSecond, ...more });

t.test('waiting grows with the load, and is nothing with slots to spare', async (t) => {
  const wait = (perSecond: number) => waitForSlots({ perSecond, pollMs: 1_000, slots: 20 }, chance('seed'));
  t.equal(wait(5), 0);
  t.ok(wait(16) > 0 && wait(16) < wait(17) && wait(17) < wait(25));
  // Beyond what the slots carry the queue grows for as long as it is watched.
  t.ok(wait(40) > 60_000);
  t.equal(wait(16), wait(16), 'the same seed, the same arrivals');
});

t.test('what is needed follows from what a poll costs', async (t) => {
  const small = plan(1);
  t.match(
    small,
    { cells: 1, perCell: { gateways: 2, workers: 2, redisMasters: 1, connections: 2 * 10 + 2 * 12 } },
    'nothing runs alone',
  );
  const large = plan(100_000);
  t.ok(large.cells > 1 && large.perCell.perSecond * large.cells > 99_999);
  for (const { name, used } of large.parts) t.ok(used <= 1.001, name);
  t.ok(
    plan(100_000, { costs: { ...MEASURED, queueUs: MEASURED.queueUs / 2 } }).cells < large.cells,
    'the fullest part decides',
  );
  t.equal(plan(100_000, { costs: { ...MEASURED, walBytes: 20_000 } }).cells, large.cells, 'and the others do not');
  t.ok(plan(100).perCell.workers < plan(100, { pollMs: 12_000 }).perCell.workers);
  t.ok(plan(100, { slots: 50 }).perCell.workers > plan(100).perCell.workers);
  t.ok(plan(10_000, { keptDays: 30 }).dollarsPerMonth < plan(10_000).dollarsPerMonth);
  t.equal(plan(10_000, { callsPerMinute: 20_000 }).providerAccounts, Math.ceil(plan(10_000).providerAccounts / 2));
});

t.test('infra/capacity.md computes with the same costs', async (t) => {
  const page = readFileSync(join(root, 'infra/capacity.md'), 'utf8');
  const { gatewayUs, workerUs, redisUs, postgresUs, storedBytes, walBytes } = MEASURED;
  for (const us of [gatewayUs, workerUs, redisUs, postgresUs]) t.match(page, `= N * ${(us / 1e6).toFixed(5)} / 0.6`);
  t.match(page, `N * 86 400 * ${storedBytes / 1_000} kB           and ${walBytes / 1_000} kB of WAL`);
});

t.test('a row for each rate', async (t) => {
  const plans = [1, 5_000].map((perSecond) => ({ perSecond, plan: plan(perSecond) }));
  t.match(growthReport(plans), /^polls\/s .*\n +1 .*\n +5,000 /);
  t.throws(() => readArguments(['--rates', '0']), /--rates is a number/);
});
