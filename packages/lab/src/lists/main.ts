import { createRole } from '@eloquentpoll/services/databases';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { APP_ROLES } from '@eloquentpoll/storage';
import { openStores, type Servers } from '../fixture/stores.ts';
import { chance as chanceOf } from '../terminal/chance.ts';
import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { type ProgressLine, progressOn } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { type BackedUp, backUpAndRestore } from './back-up.ts';
import { fillLists } from './fill-lists.ts';
import { listQuestions } from './list-questions.ts';
import { type Measured, partitionsRead, plansOf, scannedWhole, timesOf } from './measure-lists.ts';
import { type DroppedMonth, dropOldestMonth, makePastMonths } from './months.ts';

// npm run lists: lists, history and usage of an account with millions of polls. Exit code 1 when a page is slow.

const USAGE = `usage: npm run lists -- [--polls N,N…] [--months N] [--times N] [--thin] [--plans] [--json]

  --polls N   polls of the account, default 100000; 10000000 take 20 GB of disk with --thin. Several sizes stand side by side
  --months N  with a partition for each of the last N months (12 for the year that polls are spread over), default one for all;
              then the oldest is dropped, and the rest dumped and restored
  --times N   how often each page is asked for, default 40
  --thin      specs and results of a tenth of their usual size: for 10000000 polls
  --plans     also print how Postgres answers each page
  --json      print all figures as JSON
`;
const MAX_P95_MS = 50;
const MAX_DROP_MS = 1_000;

interface Asked extends Measured {
  readonly partitions: number;
}

interface Figures {
  readonly polls: number;
  readonly database: string;
  readonly asked: readonly Asked[];
  readonly faults: readonly string[];
  readonly dropped?: DroppedMonth;
  readonly backedUp?: BackedUp | string;
}

interface Run {
  readonly months: number;
  readonly times: number;
  readonly thin: boolean;
  readonly showsPlans: boolean;
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

await runCommand(USAGE, async ({ group, signal }) => {
  const options = parseOptions(process.argv.slice(2), {
    polls: { type: 'string', default: '100000' },
    months: { type: 'string', default: '0' },
    times: { type: 'string', default: '40' },
    thin: { type: 'boolean', default: false },
    plans: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const sizes = options.polls.split(',').map((size) => wholeNumber('--polls', size, 1_000, 100_000_000));
  const run: Run = {
    months: wholeNumber('--months', options.months, 0, 12),
    times: wholeNumber('--times', options.times, 1, 10_000),
    thin: options.thin,
    showsPlans: options.plans,
    progress: progressOn(process.stderr),
    signal,
  };
  if (run.months > 0 && run.months < 12)
    run.progress.note('lists: polls are spread over 12 months; the first has those before');
  await using servers = await startThrowAwayServers(await group(), process.env);
  // The migration grants privileges to those that exist, and the restored books are checked as a gateway would.
  for (const role of APP_ROLES) await createRole(servers.databaseUrl, role);
  const all: Figures[] = [];
  for (const polls of sizes) all.push(await measure(servers, polls, run));
  run.progress.end();
  if (options.json) console.log(JSON.stringify({ months: run.months, thin: run.thin, sizes: all }, null, 2));
  else for (const line of reportOf(all)) console.log(line);
  return all.every(({ faults }) => faults.length === 0) ? 0 : 1;
});

async function measure(servers: Servers, polls: number, run: Run): Promise<Figures> {
  const { months, times, progress, signal } = run;
  await using stores = await openStores(servers);
  if (months > 0) await makePastMonths(stores, months);
  const filled = await fillLists(stores, { polls, thin: run.thin }, progress, signal);
  const [{ database = '' } = {}] = await stores.query<{ database: string }>(
    'select pg_size_pretty(pg_database_size(current_database())) as database',
  );
  const chance = chanceOf('lists');
  const asked: Asked[] = [];
  const faults: string[] = [];
  for (const question of listQuestions(filled, polls)) {
    signal.throwIfAborted();
    progress.show(`lists: ${polls} polls, ${question.name}`);
    const measured = await timesOf(stores, question, times, chance);
    const plans = await plansOf(stores, question, chance);
    asked.push({ ...measured, partitions: partitionsRead(plans).size });
    faults.push(...plans.flatMap(scannedWhole).map((table) => `${question.name} reads all of ${table}`));
    if (measured.p95 > MAX_P95_MS) faults.push(`${question.name}: p95 is ${measured.p95} ms, above ${MAX_P95_MS}`);
    if (run.showsPlans) for (const plan of plans) console.log(`\n-- ${question.name}\n${plan}`);
  }
  if (months === 0) return { polls, database, asked, faults };
  progress.show('lists: the oldest month is dropped');
  const dropped = await dropOldestMonth(stores);
  if (dropped.stepsMs.length < 2) faults.push('the oldest month was not dropped');
  if (Math.max(...dropped.stepsMs) > MAX_DROP_MS)
    faults.push(`dropping a month took ${dropped.stepsMs.join(' and ')} ms`);
  progress.show('lists: dumped and restored');
  const figures = { polls, database, asked, faults, dropped };
  try {
    return { ...figures, backedUp: await backUpAndRestore(stores) };
  } catch (error) {
    // The pages' times took long to get, and are reported in any case.
    faults.push(`the dump was not restored: ${String(error)}`);
    return figures;
  }
}

function* reportOf(all: readonly Figures[]): Generator<string> {
  const head = ['page of 100', ...all.flatMap(({ polls }) => [`${polls} p50 ms`, 'p95', 'max', 'tables'])];
  const names = all[0]!.asked.map(({ name }) => name);
  const cells = ({ asked }: Figures, name: string): string[] => {
    const found = asked.find((one) => one.name === name);
    return found
      ? [...[found.p50, found.p95, found.max].map((ms) => ms.toFixed(1)), String(found.partitions)]
      : ['', '', '', ''];
  };
  yield* tableLines(
    head,
    names.map((name) => [name, ...all.flatMap((figures) => cells(figures, name))]),
  );
  for (const { polls, database, dropped, backedUp, faults } of all) {
    yield `${polls} polls, ${database}`;
    if (dropped)
      yield `  oldest month: ${dropped.polls} polls, ${dropped.size}; detached and dropped in ${dropped.stepsMs.join(' and ')} ms, slowest statement beside it ${dropped.slowestMs} ms`;
    if (typeof backedUp === 'string') yield `  backup: ${backedUp}`;
    else if (backedUp)
      yield `  backup: ${Math.round(backedUp.bytes / 1e6)} MB dumped in ${backedUp.dumpS} s, restored in ${backedUp.restoreS} s: ${backedUp.said}`;
    for (const fault of faults) yield `  BROKEN  ${fault}`;
  }
  yield verdictLine(all.filter(({ faults }) => faults.length > 0).map(({ polls }) => `${polls} polls`));
}
