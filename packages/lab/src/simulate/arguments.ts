import { randomBytes } from 'node:crypto';
import { parseOptions, wholeNumber } from '../terminal/command.ts';

export const USAGE = `usage: npm run simulate -- [--seeds N] [--crash-points] [--polls N] [--seed TEXT] [--continue FILE] [--json]

  --seeds N       worlds in bad weather: whole workers, on a store, a bus and providers that fail, crash and sleep
  --crash-points  a poll of three models with a fault at each of its steps, one at a time and two at a time
  --polls N       the fan-out alone, with random prices, latencies, failures, budgets and deaths of workers
  --seed TEXT     repeats a simulation; with each violation stands the seed of its world or poll, such as SEED/17
  --continue FILE  adds the run to those in the file (docs/proofs/runs.jsonl)
  --json          figures as JSON instead of tables

Without any of the first three: all of them, with 10000 seeds and 100000 polls.
`;

/** Null: an experiment that was not requested. */
export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    seeds: { type: 'string' },
    polls: { type: 'string' },
    'crash-points': { type: 'boolean', default: false },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const all = options.seeds === undefined && options.polls === undefined && !options['crash-points'];
  const count = (option: string, text: string | undefined, unnamed: number) =>
    text === undefined ? (all ? unnamed : null) : wholeNumber(option, text, 1, 100_000_000);
  return {
    seeds: count('--seeds', options.seeds, 10_000),
    polls: count('--polls', options.polls, 100_000),
    crashPoints: all || options['crash-points'],
    seed: options.seed,
    runFile: options.continue ?? null,
    json: options.json,
  };
}
