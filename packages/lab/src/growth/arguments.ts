import { number, parseOptions, wholeNumber } from '../terminal/command.ts';

export const USAGE = `usage: npm run growth -- [--rates N,N,...] [--poll-ms N] [--slots N] [--postgres-cores N] [--redis-masters N]
                         [--calls-per-minute N] [--kept-days N] [--check] [--seed TEXT] [--json]

  What so many polls per second need, what fills first and what it costs a month, by the measured cost of one poll.

  --rates N,N,...       polls per second, default 1,100,10000,100000
  --poll-ms N           how long models take, as a median; default 3000
  --slots N             polls that one worker runs at once, default 200
  --postgres-cores N    of the largest Postgres that you want to run, default 32
  --redis-masters N     of a cell, default 3
  --calls-per-minute N  what one account with a provider may ask of one model, default 10000
  --kept-days N         for how long results are kept, default 400
  --check               measures the cost of a poll here, and compares what this machine should carry with what it does
  --seed TEXT           makes the same random arrivals again
  --json                figures as JSON instead of a table
`;

export type Arguments = ReturnType<typeof readArguments>;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    rates: { type: 'string', default: '1,100,10000,100000' },
    'poll-ms': { type: 'string', default: '3000' },
    slots: { type: 'string', default: '200' },
    'postgres-cores': { type: 'string', default: '32' },
    'redis-masters': { type: 'string', default: '3' },
    'calls-per-minute': { type: 'string', default: '10000' },
    'kept-days': { type: 'string', default: '400' },
    check: { type: 'boolean', default: false },
    seed: { type: 'string', default: 'growth' },
    json: { type: 'boolean', default: false },
  });
  return {
    rates: options.rates.split(',').map((rate) => number('--rates', rate, 0.01, 10_000_000)),
    terms: {
      pollMs: wholeNumber('--poll-ms', options['poll-ms'], 1, 600_000),
      slots: wholeNumber('--slots', options.slots, 1, 10_000),
      busy: 0.6,
      postgresCores: wholeNumber('--postgres-cores', options['postgres-cores'], 1, 1_000),
      redisMasters: wholeNumber('--redis-masters', options['redis-masters'], 1, 1_000),
      callsPerMinute: wholeNumber('--calls-per-minute', options['calls-per-minute'], 1, 1_000_000_000),
      keptDays: wholeNumber('--kept-days', options['kept-days'], 1, 10_000),
      seed: options.seed,
    },
    check: options.check,
    json: options.json,
  };
}
