import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { chance as chanceOf } from '../terminal/chance.ts';
import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { fillLists } from './fill-lists.ts';
import { listQuestions } from './list-questions.ts';
import { type Measured, plansOf, scannedWhole, timesOf } from './measure-lists.ts';

// npm run lists: lists, history and usage of an account with millions of polls. Exit code 1 when a page is slow.

const USAGE = `usage: npm run lists -- [--polls N] [--times N] [--thin] [--plans]

  --polls N  polls of the account, default 100000; 10000000 take 20 GB of disk with --thin
  --times N  how often each page is asked for, default 40
  --thin     specs and results of a tenth of their usual size: for 10000000 polls
  --plans    also print how Postgres answers each page
`;
const MAX_P95_MS = 50;

await runCommand(USAGE, async ({ group, signal }) => {
  const options = parseOptions(process.argv.slice(2), {
    polls: { type: 'string', default: '100000' },
    times: { type: 'string', default: '40' },
    thin: { type: 'boolean', default: false },
    plans: { type: 'boolean', default: false },
  });
  const size = { polls: wholeNumber('--polls', options.polls, 1_000, 100_000_000), thin: options.thin };
  const times = wholeNumber('--times', options.times, 1, 10_000);
  await using servers = await startThrowAwayServers(await group(), process.env);
  await using stores = await openStores(servers);
  const progress = progressOn(process.stderr);
  const began = performance.now();
  const filled = await fillLists(stores, size, progress, signal);
  const [{ bytes = '' } = {}] = await stores.query<{ bytes: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as bytes',
  );
  console.log(`${size.polls} polls, ${bytes}, filled in ${Math.round((performance.now() - began) / 1_000)} s`);

  const chance = chanceOf('lists');
  const questions = listQuestions(filled, size.polls);
  const measured: Measured[] = [];
  for (const question of questions) {
    signal.throwIfAborted();
    progress.show(`lists: ${question.name}`);
    measured.push(await timesOf(stores, question, times, chance));
  }
  progress.end();
  const rows = measured.map(({ name, p50, p95, max }) => [name, ...[p50, p95, max].map((ms) => ms.toFixed(1))]);
  for (const line of tableLines(['page of 100', 'p50 ms', 'p95 ms', 'max ms'], rows)) console.log(line);

  const scans: string[] = [];
  for (const question of questions) {
    const plans = await plansOf(stores, question, chance);
    scans.push(...plans.flatMap(scannedWhole).map((table) => `${question.name} reads all of ${table}`));
    if (options.plans) for (const plan of plans) console.log(`\n-- ${question.name}\n${plan}`);
  }
  for (const scan of scans) console.log(scan);
  const slow = measured.filter(({ p95 }) => p95 > MAX_P95_MS);
  for (const { name, p95 } of slow) console.log(`${name}: p95 is ${p95} ms, above ${MAX_P95_MS}`);
  return slow.length + scans.length === 0 ? 0 : 1;
});
