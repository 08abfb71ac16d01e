import type { Stores } from '../../fixture/stores.ts';
import type { RunOutcome } from '../../proof/continued.ts';
import type { ProgressLine } from '../../terminal/progress.ts';
import type { Finding } from '../fuzz-operations.ts';
import { readCorpus } from './corpus.ts';
import { requestsByInterface } from './requests-by-interface.ts';
import { type MemoryReport, runMemory } from './run-memory.ts';
import type { FuzzStep } from './step.ts';

export interface MemoryArguments {
  readonly seed: number;
  readonly requests: number;
  readonly minutes: number;
  readonly repeat: readonly FuzzStep[] | undefined;
  /** File in which runs are added up; the corpus is stored beside it. */
  readonly runFile: string | null;
  readonly corpusFile: string;
}

export const MEMORY_EXPERIMENT = 'fuzz memory';

/** Plays sequences. What was learned is saved only if runs are added up. */
export async function fuzzWithMemory(
  args: MemoryArguments,
  stores: Stores,
  progress: ProgressLine,
): Promise<MemoryReport> {
  const corpus = await readCorpus(args.corpusFile);
  const report = await runMemory({
    ...args,
    ...stores,
    corpus,
    onRequest: (requests, findings) => progress.show(`${requests} requests, ${findings} findings`),
    onFinding: (finding) => progress.note(findingLines(finding)),
  });
  if (args.runFile !== null) await corpus.save(args.corpusFile);
  return report;
}

export const memoryOutcome = (report: MemoryReport): RunOutcome => ({
  experiment: MEMORY_EXPERIMENT,
  seed: String(report.seed),
  holds: report.findings.length === 0,
  counts: {
    requests: report.requests,
    sequences: report.sequences,
    'unexpected answers': report.findings.length,
    'secrets in answers': report.shown,
    ...requestsByInterface(report.coverage.counts, report.operations),
    'log lines': report.logLines,
    'log lines with a secret': report.leaks,
    webhooks: report.webhooks,
    seconds: Math.round(report.seconds),
  },
  figure: `${report.reached} of operation, status and code reached, ${Math.round(report.requests / report.seconds)} requests/s`,
});

const findingLines = ({ where, problem, reproduction }: Finding): string => `${where}\n  ${problem}\n  ${reproduction}`;

export function memoryLines(report: MemoryReport): string[] {
  const { coverage, operations, findings } = report;
  return [
    ...coverage.lines(operations),
    '',
    `${report.requests} requests in ${report.sequences} sequences in ${report.seconds} s ` +
      `(${Math.round(report.requests / report.seconds)} requests/s, ${((1e3 * report.cpuSeconds) / report.requests).toFixed(2)} ms of CPU each, slowest ${report.slowestMs} ms); ` +
      `${report.webhooks} webhooks and ${report.logLines} log lines read`,
    `${report.reached} of operation, status and code reached, ${report.newlyReached} sequences were the first to one`,
    ...findings.map((finding) => `\n${findingLines(finding)}`),
    '',
    `seed ${report.seed}: ${findings.length} unexpected answers`,
  ];
}
