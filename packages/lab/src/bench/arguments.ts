import { parseArgs } from 'node:util';
import { ROWS } from './all-rows.ts';
import type { Row } from './rows.ts';

export interface Arguments {
  readonly rows: readonly Row[];
  readonly windows: number;
  readonly windowMs: number;
  readonly soakMinutes: number;
  readonly durable: boolean;
  readonly json: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run bench -- [--only ROWS] [--windows N] [--window-ms N] [--minutes N]
                        [--durable] [--json]

  --only ROWS    separated by commas; without it all but those marked long
${ROWS.map(({ id, about, long }) => `                   ${id.padEnd(10)} ${about}${long ? ' (long)' : ''}`).join('\n')}
  --windows N    how often each contender is measured, in turn with the others; default 5
  --window-ms N  how long a window is; default 1500
  --minutes N    how long the soak takes; default 20
  --durable      Postgres waits for the disk at every commit; otherwise it does not
  --json         figures as JSON instead of a table
`;

export function parseArguments(argv: readonly string[]): Arguments {
  const values = parse(argv);
  return {
    rows: values.only === undefined ? ROWS.filter(({ long }) => !long) : values.only.split(',').map(rowNamed),
    windows: count('--windows', values.windows, 1, 1_000),
    windowMs: count('--window-ms', values['window-ms'], 10, 60_000),
    soakMinutes: count('--minutes', values.minutes, 1, 1_440),
    durable: values.durable,
    json: values.json,
  };
}

function rowNamed(text: string): Row {
  const row = ROWS.find(({ id }) => id === text.trim());
  if (!row) throw new UsageError(`there is no row "${text.trim()}"`);
  return row;
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
        windows: { type: 'string', default: '5' },
        'window-ms': { type: 'string', default: '1500' },
        minutes: { type: 'string', default: '20' },
        durable: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}
