import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

export const EXPERIMENTS = ['workers', 'scripts', 'outage', 'favour'] as const;
export type Experiment = (typeof EXPERIMENTS)[number];

export interface Arguments {
  readonly only: readonly Experiment[];
  readonly seed: string;
  readonly kills: number;
  readonly stops: number;
  readonly polls: number;
  readonly inFlight: number;
  readonly json: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run chaos -- [--only NAMES] [--seed TEXT] [--kills N] [--stops N] [--polls N] [--in-flight N] [--json]

  --only NAMES   of ${EXPERIMENTS.join(', ')}, separated by commas; all without it
                   workers   workers are killed and stopped under load, then the history is judged
                   scripts   each way a model can misbehave, and what becomes of the poll
                   outage    one of two providers goes away; the other one's polls must not notice
                   favour    models that obey texts or places; no option may gain from it
  --seed TEXT    repeats an experiment; a new one without it
  --kills N      SIGKILLs of workers, default 200
  --stops N      SIGSTOPs longer than a lease, default 50
  --polls N      at least so many polls under strikes, default 2000; polls per voter of favour
  --in-flight N  polls at once, default 40
  --json         figures as JSON instead of tables

DATABASE_URL and REDIS_URL name the servers to use; a database and keys are made there and removed at the end.
`;

export function parseArguments(argv: readonly string[]): Arguments {
  const { only, seed, kills, stops, polls, json, 'in-flight': inFlight } = parse(argv);
  const names = only?.split(',').map((name) => name.trim()) ?? EXPERIMENTS;
  return {
    only: names.map((name) => EXPERIMENTS.find((known) => known === name) ?? unknown(name)),
    seed: seed ?? randomBytes(4).toString('hex'),
    kills: count('--kills', kills, 0, 100_000),
    stops: count('--stops', stops, 0, 10_000),
    polls: count('--polls', polls, 1, 1_000_000),
    inFlight: count('--in-flight', inFlight, 1, 500),
    json,
  };
}

function unknown(name: string): never {
  throw new UsageError(`there is no experiment "${name}"`);
}

function count(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new UsageError(`${option} is a whole number from ${least} to ${most}, not "${text}"`);
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        only: { type: 'string' },
        seed: { type: 'string' },
        kills: { type: 'string', default: '200' },
        stops: { type: 'string', default: '50' },
        polls: { type: 'string', default: '2000' },
        'in-flight': { type: 'string', default: '40' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
