import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

export const EXPERIMENTS = [
  'service',
  'rolling',
  'streams',
  'keys',
  'redis',
  'workers',
  'scripts',
  'outage',
  'favour',
] as const;
export type Experiment = (typeof EXPERIMENTS)[number];

export interface Arguments {
  readonly only: readonly Experiment[];
  readonly seed: string;
  readonly kills: number;
  readonly stops: number;
  readonly polls: number;
  readonly inFlight: number;
  readonly workers: number;
  readonly outages: number;
  readonly minutes: number;
  readonly record: string | null;
  readonly json: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run chaos -- [--only NAMES] [--seed TEXT] [--minutes N] [--kills N] [--stops N] [--polls N]
                         [--outages N] [--in-flight N] [--workers N] [--record FILE] [--json]

  --only NAMES   separated by commas; all without it
                   service   everything is struck while callers use every way to run a poll
                   rolling   every process is restarted in good order, over and over; nobody notices
                   streams   Redis and the network fail under streams
                   keys      a hundred requests at once with one key, while processes are killed
                   redis     consumers of the queue lose their Redis for up to a minute, each in its own way
                   workers   workers are killed and stopped under load, then the history is judged
                   scripts   each way a model can misbehave, and what becomes of the poll
                   outage    one of two providers goes away; the other one's polls must not notice
                   favour    models that obey texts or places; no option may gain from it
  --seed TEXT    repeats an experiment; a new one without it
  --minutes N    how long service, rolling, streams and keys are struck, default 3
  --kills N      SIGKILLs: of workers, default 200; of any process where everything is struck, at most so many
  --stops N      SIGSTOPs longer than a lease, default 50
  --polls N      at least so many polls under strikes, default 2000; polls per voter of favour
  --outages N    of Redis, default 200
  --in-flight N  polls at once, default 40
  --workers N    so many are killed and stopped, by more hands the more there are, default 3
  --record FILE  every operation of the callers, one JSON object a line
  --json         figures as JSON instead of tables

Everything that is needed is started for it and gone afterwards.
`;

export function parseArguments(argv: readonly string[]): Arguments {
  const {
    only,
    seed,
    kills,
    stops,
    polls,
    outages,
    minutes,
    workers,
    record,
    json,
    'in-flight': inFlight,
  } = parse(argv);
  const names = only?.split(',').map((name) => name.trim()) ?? EXPERIMENTS;
  return {
    only: names.map((name) => EXPERIMENTS.find((known) => known === name) ?? unknown(name)),
    seed: seed ?? randomBytes(4).toString('hex'),
    kills: count('--kills', kills, 0, 100_000),
    stops: count('--stops', stops, 0, 10_000),
    polls: count('--polls', polls, 1, 1_000_000),
    outages: count('--outages', outages, 1, 100_000),
    inFlight: count('--in-flight', inFlight, 1, 500),
    workers: count('--workers', workers, 2, 50),
    minutes: amount('--minutes', minutes, 0.05, 600),
    record: record ?? null,
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

function amount(option: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new UsageError(`${option} is a number from ${least} to ${most}, not "${text}"`);
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
        workers: { type: 'string', default: '3' },
        outages: { type: 'string', default: '200' },
        minutes: { type: 'string', default: '3' },
        record: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
