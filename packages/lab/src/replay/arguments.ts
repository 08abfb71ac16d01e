import { parseArgs } from 'node:util';

export interface Arguments {
  readonly votes: string | undefined;
  readonly vectors: string | undefined;
  readonly panel: string | undefined;
  readonly threshold: number;
  readonly svg: string | undefined;
  readonly json: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run replay -- --votes FILE [--roster NAMES] [--threshold T] [--json] [--svg FILE] [--vectors FILE]

  --votes FILE      recorded votes to replay
  --roster NAMES    r7, r9, r12, or model names of the file, separated by commas; all three without it
  --threshold T     confidence threshold from 0 to 1, default 0.95
  --json            figures as JSON instead of tables
  --svg FILE        writes the calibration plot
  --vectors FILE    checks confidence against exact vectors; exit code 1 when a figure differs
`;

export function parseArguments(argv: readonly string[]): Arguments {
  const { votes, vectors, roster, threshold, svg, json } = parse(argv);
  if (votes === undefined && vectors === undefined) throw new UsageError('name a file: --votes FILE or --vectors FILE');
  const level = Number(threshold);
  if (threshold.trim() === '' || !(level >= 0 && level <= 1))
    throw new UsageError(`--threshold is a number from 0 to 1, not "${threshold}"`);
  return { votes, vectors, panel: roster, threshold: level, svg, json };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      // A package runner hands its own separator on.
      args: argv[0] === '--' ? argv.slice(1) : [...argv],
      options: {
        votes: { type: 'string' },
        vectors: { type: 'string' },
        roster: { type: 'string' },
        threshold: { type: 'string', default: '0.95' },
        svg: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
