import { availableParallelism } from 'node:os';
import { root } from '@eloquentpoll/launch/folders';
import { UsageError } from '../terminal/command.ts';
import { boundText, figureOf } from './figure.ts';
import type { ProofRow } from './proof-row.ts';
import { committedCode, presentRevision } from './revisions.ts';
import { PROOF_ROWS } from './rows.ts';
import { appendRun, isRepeated, type Run, readRuns } from './run.ts';

export type RunOutcome = Pick<
  Run,
  'experiment' | 'seed' | 'holds' | 'broken' | 'counts' | 'faults' | 'figure' | 'note'
>;

/** The file of `--continue`, to which a command appends its runs. */
export interface RunFile {
  /** Call before a long run: throws if the seed was used at this revision, because it would not count again. */
  refuseRepeated(experiment: string, seed: string | null): void;
  /** Returns lines with the figures of the rows that this run counts for. */
  add(outcome: RunOutcome): Promise<string[]>;
}

/** `command`: the command line that repeats the run. */
export async function continueFile(file: string, command: string): Promise<RunFile> {
  const runs = await readRuns(file);
  const { revision, codeOf } = await presentCode();
  const at = new Date().toISOString();
  return {
    refuseRepeated(experiment, seed) {
      if (!isRepeated({ experiment, seed, revision }, runs)) return;
      throw new UsageError(
        `${file} has ${experiment} with seed ${seed} at this revision; leave --seed out for a new one`,
      );
    },
    async add(outcome) {
      const code = codeOf(outcome.experiment);
      const run: Run = { ...outcome, at, revision, ...(code && { code }), cores: availableParallelism(), command };
      await appendRun(file, run);
      runs.push(run);
      return [
        ...(revision === null ? ['there is no commit of this code: the run counts, but not for a known revision'] : []),
        ...sumsOf(file, outcome.experiment, runs),
      ];
    },
  };
}

/** The commit that is checked out, and for an experiment the digest of each row's code; null if files were changed. */
export async function presentCode() {
  const revision = await presentRevision(root);
  const digestOf = revision === null ? null : await committedCode(root);
  return {
    revision,
    codeOf: (experiment: string): Record<string, string> | null =>
      digestOf && Object.fromEntries(rowsOf(experiment).map(({ id, covers }) => [id, digestOf(covers)])),
  };
}

const rowsOf = (experiment: string): ProofRow[] =>
  PROOF_ROWS.filter(({ id, experiments }) => id === experiment || experiments?.includes(experiment));

function sumsOf(file: string, experiment: string, runs: readonly Run[]): string[] {
  const own = runs.filter((run) => run.experiment === experiment);
  return [
    `${file}: ${own.length} ${own.length === 1 ? 'run' : 'runs'} of ${experiment}`,
    ...rowsOf(experiment).map((row) => {
      const { text, bound, missing } = figureOf(row, own);
      return `  ${row.id}: ${[text, boundText(bound), ...missing].filter(Boolean).join(', ')}`;
    }),
  ];
}

/** The command line without the options that do not change the run. */
export function repeatedBy(name: string, argv: readonly string[]): string {
  const kept = argv.filter(
    (arg, i) => arg !== '--' && !/^--(continue|record|json)\b/.test(arg) && !isValue(argv[i - 1]),
  );
  return [`npm run ${name}`, ...(kept.length > 0 ? ['--', ...kept] : [])].join(' ');
}

const isValue = (before: string | undefined): boolean => before === '--continue' || before === '--record';
