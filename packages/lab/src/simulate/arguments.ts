import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface Arguments {
  /** Null: this experiment was not asked for. */
  readonly polls: number | null;
  readonly seeds: number | null;
  readonly crashPoints: boolean;
  readonly seed: string;
  readonly json: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run simulate -- [--seeds N] [--crash-points] [--polls N] [--seed TEXT] [--json]

  --seeds N       worlds in bad weather: whole workers, on a store, a bus and providers that fail, crash and sleep
  --crash-points  a poll of three models with a fault at each of its steps, one at a time and two at a time
  --polls N       the fan-out alone, with random prices, latencies, failures, budgets and deaths of workers
  --seed TEXT     repeats a simulation; with each violation stands the seed of its world or poll, such as SEED/17
  --json          figures as JSON instead of tables

Without any of the first three: all of them, with 10000 seeds and 100000 polls.
`;

export function parseArguments(argv: readonly string[]): Arguments {
  const { seeds, polls, seed, json, 'crash-points': crashPoints } = parse(argv);
  const all = seeds === undefined && polls === undefined && !crashPoints;
  return {
    seeds: all ? 10_000 : seeds === undefined ? null : count('--seeds', seeds),
    polls: all ? 100_000 : polls === undefined ? null : count('--polls', polls),
    crashPoints: all || crashPoints,
    seed: seed ?? randomBytes(4).toString('hex'),
    json,
  };
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 100_000_000) return value;
  throw new UsageError(`${option} is a whole number from 1 to 100000000, not "${text}"`);
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        seeds: { type: 'string' },
        polls: { type: 'string' },
        'crash-points': { type: 'boolean', default: false },
        seed: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
