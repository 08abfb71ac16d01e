import { number, parseOptions, UsageError } from '../terminal/command.ts';

export const USAGE = `usage: npm run replay -- --votes FILE [--roster NAMES] [--threshold T] [--prices FILE [--price-set NAME]]
                        [--order cheapest|shuffled] [--record VOTES] [--json] [--svg FILE] [--vectors FILE]

  --votes FILE      recorded votes to replay
  --roster NAMES    r7, r9, r12, or model names of the file, separated by commas; all three without it
  --threshold T     confidence threshold from 0 to 1, default 0.95
  --prices FILE     prices per call: what is saved in dollars too
  --price-set NAME  which prices of the file, its first set without it
  --order ORDER     cheapest first, which needs prices, or shuffled, the default
  --record VOTES    recorded votes as audited polls: their track record brakes confidence. If it is the file that is
                    replayed, each poll is judged by a record of others
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
    svg: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  if (options.votes === undefined && options.vectors === undefined)
    throw new UsageError('name a file: --votes FILE or --vectors FILE');
  const order = ORDERS.find((one) => one === options.order);
  if (order === undefined) throw new UsageError(`--order is ${ORDERS.join(' or ')}, not "${options.order}"`);
  if (order === 'cheapest' && options.prices === undefined)
    throw new UsageError('--order cheapest needs --prices FILE');
  return { ...options, order, threshold: number('--threshold', options.threshold, 0, 1) };
}
