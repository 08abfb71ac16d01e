import { randomInt } from 'node:crypto';
import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz: hostile requests to every operation, until one is answered wrongly. Exit code 1 when one was.

const MAX = 2 ** 31;

const USAGE = `usage: npm run fuzz -- [--runs N] [--sequences N] [--operation TEXT] [--seed N] [--real-limits] [--json]

  --runs N          inputs per operation, default 1100
  --sequences N     sequences of requests that build on each other, default 200
  --operation TEXT  only operations whose name, such as "POST /api/poll", holds this
  --seed N          repeats a run
  --real-limits     with the rate limits of production instead of none
  --json            figures as JSON instead of tables
`;

await runCommand(USAGE, async ({ group }) => {
  const args = readArguments(process.argv.slice(2));
  await using servers = await startThrowAwayServers(await group(), process.env);
  await using stores = await openStores(servers);
  const progress = progressOn(process.stderr);
  const report = await runFuzz({ ...args, ...stores, onInput: (inputs) => progress.show(`${inputs} inputs`) });
  progress.end();
  process.stdout.write(args.json ? `${JSON.stringify(report, null, 2)}\n` : `${lines(report).join('\n')}\n`);
  return report.findings.length === 0 ? 0 : 1;
});

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    runs: { type: 'string', default: '1100' },
    sequences: { type: 'string', default: '200' },
    operation: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(MAX)) },
    'real-limits': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  return {
    runs: wholeNumber('--runs', options.runs, 0, MAX),
    sequences: wholeNumber('--sequences', options.sequences, 0, MAX),
    only: options.operation,
    seed: wholeNumber('--seed', options.seed, 0, MAX),
    realLimits: options['real-limits'],
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
    `${report.inputs} inputs to ${operations.length} operations and ${report.sequences} sequences of ` +
      `${report.requestsInSequences} requests in ${report.seconds} s; ${report.logLines} log lines read`,
    `heap ${heapMb.early} MB early, ${heapMb.end} MB at the end; RSS ${report.rssMb} MB; ${report.handles} handles`,
    ...findings.map(({ where, problem, reproduction }) => `\n${where}\n  ${problem}\n  ${reproduction}`),
    '',
    `seed ${report.seed}: ${findings.length} unexpected answers`,
  ];
}
