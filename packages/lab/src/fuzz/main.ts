import { startThrowAwayServers } from '@eloquentpoll/services/throw-away-servers';
import { openStores } from '../fixture/stores.ts';
import { continueFile, repeatedBy } from '../proof/continued.ts';
import { runCommand } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { tableLines } from '../terminal/table.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { fuzzWithMemory, MEMORY_EXPERIMENT, memoryLines, memoryOutcome } from './memory/command.ts';
import { type FuzzReport, runFuzz } from './run-fuzz.ts';

// npm run fuzz: hostile requests to every operation, until one is answered wrongly. Exit code 1 in that case.

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
function experimentOf({ only, realLimits }: Arguments): string {
  return ['fuzz', ...(only === undefined ? [] : [only]), ...(realLimits ? ['with limits'] : [])].join(' ');
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
