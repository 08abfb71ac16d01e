import { randomInt } from 'node:crypto';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { continueFile, repeatedBy } from '../proof/continued.ts';
import { number, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { corpusBeside, fuzzWithMemory, MEMORY_EXPERIMENT, memoryLines, memoryOutcome } from './memory/command.ts';
import { parseSteps } from './memory/step.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz: hostile requests to every operation, until one is answered wrongly. Exit code 1 in that case.

const MAX = 2 ** 31;

const USAGE = `usage: npm run fuzz -- [--runs N] [--operation TEXT] [--real-limits] [--seed N] [--continue FILE] [--json]
       npm run fuzz -- --memory [--requests N] [--minutes N] [--repeat STEPS] [--corpus FILE] [--seed N] [--continue FILE] [--json]

  --runs N          inputs per operation, default 1100
  --operation TEXT  only operations whose name, such as "POST /api/poll", holds this
  --real-limits     with the rate limits of production instead of none
  --memory          sequences of requests that use what earlier answers gave, over all operations
  --requests N      ends after so many, default 100000
  --minutes N       ends then at the latest, default 120
  --repeat STEPS    one sequence, as a finding prints it
  --corpus FILE     sequences that reached something new, default fuzz-corpus.txt beside the file of --continue
  --seed N          repeats a run
  --continue FILE   adds the run to those in the file (docs/proofs/runs.jsonl), and what it reached to the corpus
  --json            figures as JSON instead of tables
`;

await runCommand(USAGE, async ({ group }) => {
  const argv = process.argv.slice(2);
  const args = readArguments(argv);
  const kept = args.runFile === null ? null : await continueFile(args.runFile, repeatedBy('fuzz', argv));
  const experiment = args.hasMemory ? MEMORY_EXPERIMENT : experimentOf(args);
  kept?.refuseRepeated(experiment, String(args.seed));
  await using servers = await startThrowAwayServers(await group(), process.env);
  await using stores = await openStores(servers);
  const progress = progressOn(process.stderr);
  if (args.hasMemory) {
    const report = await fuzzWithMemory(args, stores, progress);
    progress.end();
    const sums = await kept?.add(memoryOutcome(report));
    print(
      args.json
        ? [JSON.stringify({ ...report, coverage: Object.fromEntries(report.coverage.counts) }, null, 2)]
        : [...memoryLines(report), ...(sums ?? [])],
    );
    return report.findings.length === 0 ? 0 : 1;
  }
  const report = await runFuzz({ ...args, ...stores, onInput: (inputs) => progress.show(`${inputs} inputs`) });
  progress.end();
  const sums = await kept?.add({
    experiment,
    seed: String(report.seed),
    holds: report.findings.length === 0,
    counts: {
      inputs: report.inputs,
      'inputs per operation': args.runs,
      'unexpected answers': report.findings.length,
      'log lines': report.logLines,
      'log lines with a secret': report.leaks,
    },
  });
  print(args.json ? [JSON.stringify(report, null, 2)] : [...lines(report), ...(sums ?? [])]);
  return report.findings.length === 0 ? 0 : 1;
});

function print(lines: readonly string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A run of some operations, or with real limits, counts as another experiment. */
function experimentOf({ only, realLimits }: ReturnType<typeof readArguments>): string {
  return ['fuzz', ...(only === undefined ? [] : [only]), ...(realLimits ? ['with limits'] : [])].join(' ');
}

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    runs: { type: 'string', default: '1100' },
    memory: { type: 'boolean', default: false },
    requests: { type: 'string', default: '100000' },
    minutes: { type: 'string', default: '120' },
    repeat: { type: 'string' },
    corpus: { type: 'string' },
    operation: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(MAX)) },
    'real-limits': { type: 'boolean', default: false },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  return {
    runs: wholeNumber('--runs', options.runs, 0, MAX),
    hasMemory: options.memory,
    requests: wholeNumber('--requests', options.requests, 1, MAX),
    minutes: number('--minutes', options.minutes, 0.01, 10_000),
    repeat: options.repeat === undefined ? undefined : parseSteps(options.repeat),
    corpusFile: options.corpus ?? corpusBeside(options.continue ?? null),
    only: options.operation,
    seed: wholeNumber('--seed', options.seed, 0, MAX),
    realLimits: options['real-limits'],
    runFile: options.continue ?? null,
    json: options.json,
  };
}

function lines(report: FuzzReport): string[] {
  const { operations, findings, heapMb } = report;
  const counts = (statuses: Readonly<Record<string, number>>) =>
    Object.entries(statuses)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ');
  return [
    ...tableLines(
      ['operation', 'inputs', 'slowest', 'statuses'],
      operations.map(({ operation, inputs, slowestMs, statuses }) => [
        operation,
        String(inputs),
        `${slowestMs} ms`,
        counts(statuses),
      ]),
      [0, 3],
    ),
    '',
    `${report.inputs} inputs to ${operations.length} operations in ${report.seconds} s; ${report.logLines} log lines read`,
    `heap ${heapMb.early} MB early, ${heapMb.end} MB at the end; RSS ${report.rssMb} MB; ${report.handles} handles`,
    ...findings.map(({ where, problem, reproduction }) => `\n${where}\n  ${problem}\n  ${reproduction}`),
    '',
    `seed ${report.seed}: ${findings.length} unexpected answers`,
  ];
}
