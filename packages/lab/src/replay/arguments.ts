import { number, parseOptions, UsageError, wholeNumber } from '../terminal/command.ts';

export const USAGE = `usage: npm run replay -- --votes FILE [--roster NAMES] [--threshold T] [--prices FILE [--price-set NAME]]
                        [--order cheapest|shuffled] [--record VOTES] [--live POLLS] [--batch] [--json] [--svg FILE] [--vectors FILE]

  --votes FILE      recorded votes to replay
  --roster NAMES    r7, r9, r12, or model names of the file, separated by commas; all three without it
  --threshold T     confidence threshold from 0 to 1, default 0.95
  --prices FILE     prices per call: what is saved in dollars too
  --price-set NAME  which prices of the file, its first set without it
  --order ORDER     cheapest first, which needs prices, or shuffled, the default
  --record VOTES    recorded votes as audited polls: their track record brakes confidence. If it is the file that is
                    replayed, each poll is judged by a record of others
  --live POLLS      plays an operation of so many polls instead: audits, gate, models that turn bad, other fields
  --batch           also stores the polls as a batch with right answers, on servers of its own, and compares the figures
                    of its report; exit code 1 when one differs
  --json            figures as JSON instead of tables
  --svg FILE        writes the calibration plot
  --vectors FILE    checks confidence against exact vectors; exit code 1 when a figure differs
`;

const ORDERS = ['cheapest', 'shuffled'] as const;

export type Arguments = ReturnType<typeof readArguments>;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    votes: { type: 'string' },
    vectors: { type: 'string' },
    roster: { type: 'string' },
    threshold: { type: 'string', default: '0.95' },
    prices: { type: 'string' },
    'price-set': { type: 'string' },
    order: { type: 'string', default: 'shuffled' },
    record: { type: 'string' },
    live: { type: 'string' },
    batch: { type: 'boolean', default: false },
    svg: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  if (options.votes === undefined && options.vectors === undefined)
    throw new UsageError('name a file: --votes FILE or --vectors FILE');
  const order = ORDERS.find((one) => one === options.order);
  if (order === undefined) throw new UsageError(`--order is ${ORDERS.join(' or ')}, not "${options.order}"`);
  if (order === 'cheapest' && options.prices === undefined)
    throw new UsageError('--order cheapest needs --prices FILE');
  if (options.live !== undefined && options.prices === undefined) throw new UsageError('--live needs --prices FILE');
  if (options.batch && options.record !== undefined) throw new UsageError('--batch knows no --record');
  const live = options.live === undefined ? null : wholeNumber('--live', options.live, 10, 10_000_000);
  return { ...options, live, order, threshold: number('--threshold', options.threshold, 0, 1) };
}
