import { number, parseOptions, UsageError } from '../terminal/command.ts';

export const USAGE = `usage: npm run replay -- --votes FILE [--roster NAMES] [--threshold T] [--json] [--svg FILE] [--vectors FILE]

  --votes FILE      recorded votes to replay
  --roster NAMES    r7, r9, r12, or model names of the file, separated by commas; all three without it
  --threshold T     confidence threshold from 0 to 1, default 0.95
  --json            figures as JSON instead of tables
  --svg FILE        writes the calibration plot
  --vectors FILE    checks confidence against exact vectors; exit code 1 when a figure differs
`;

export type Arguments = ReturnType<typeof readArguments>;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    votes: { type: 'string' },
    vectors: { type: 'string' },
    roster: { type: 'string' },
    threshold: { type: 'string', default: '0.95' },
    svg: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  if (options.votes === undefined && options.vectors === undefined)
    throw new UsageError('name a file: --votes FILE or --vectors FILE');
  return { ...options, threshold: number('--threshold', options.threshold, 0, 1) };
}
