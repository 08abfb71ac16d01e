import { progressOn } from '../terminal/progress.ts';
import type { Arguments, Experiment } from './arguments.ts';
import { onBench, type Servers } from './experiment.ts';
import { strikeLines, strikesHold, strikeWorkers } from './strike-workers.ts';

// The experiments by name, each with what it leaves: figures for machines, lines for people, and a verdict.

export interface Proof {
  readonly figures: object;
  readonly lines: readonly string[];
  readonly holds: boolean;
}

type Prove = (args: Arguments, servers: Servers, signal: AbortSignal) => Promise<Proof>;

export const proofs: Partial<Record<Experiment, Prove>> = {
  async workers(args, servers, signal) {
    const progress = progressOn(process.stderr);
    const report = await onBench(servers, signal, (bench) => strikeWorkers(bench, args, progress));
    return { figures: report, lines: strikeLines(report), holds: strikesHold(report) };
  },
};
