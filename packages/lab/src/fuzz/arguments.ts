import { randomInt } from 'node:crypto';
import { dirname, join } from 'node:path';
import { number, parseOptions, UsageError, wholeNumber } from '../terminal/command.ts';
import { parseSteps } from './memory/step.ts';

export const USAGE = `usage: npm run fuzz -- [--runs N] [--operation TEXT] [--real-limits] [--seed N] [--continue FILE] [--json]
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

export type Arguments = ReturnType<typeof readArguments>;

const MAX = 2 ** 31;
const WITHOUT_MEMORY = ['runs', 'operation', 'real-limits'] as const;
const WITH_MEMORY = ['requests', 'minutes', 'repeat', 'corpus'] as const;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    runs: { type: 'string' },
    memory: { type: 'boolean', default: false },
    requests: { type: 'string' },
    minutes: { type: 'string' },
    repeat: { type: 'string' },
    corpus: { type: 'string' },
    operation: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(MAX)) },
    'real-limits': { type: 'boolean' },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const misplaced = (options.memory ? WITHOUT_MEMORY : WITH_MEMORY).find((name) => options[name] !== undefined);
  if (misplaced !== undefined)
    throw new UsageError(`--${misplaced} goes ${options.memory ? 'without' : 'with'} --memory`);
  return {
    runs: wholeNumber('--runs', options.runs ?? '1100', 1, MAX),
    hasMemory: options.memory,
    requests: wholeNumber('--requests', options.requests ?? '100000', 1, MAX),
    minutes: number('--minutes', options.minutes ?? '120', 0.01, 10_000),
    repeat: options.repeat === undefined ? undefined : parseSteps(options.repeat),
    corpusFile: options.corpus ?? corpusBeside(options.continue ?? null),
    only: options.operation,
    seed: wholeNumber('--seed', options.seed, 0, MAX),
    realLimits: options['real-limits'] ?? false,
    runFile: options.continue ?? null,
    json: options.json,
  };
}

const corpusBeside = (runFile: string | null): string =>
  join(dirname(runFile ?? 'docs/proofs/runs.jsonl'), 'fuzz-corpus.txt');
