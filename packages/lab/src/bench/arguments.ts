import { names, parseOptions, UsageError, wholeNumber } from '../terminal/command.ts';
import { ROWS } from './rows.ts';

export const USAGE = `usage: npm run bench -- [--only ROWS | --peer] [--windows N] [--window-ms N] [--minutes N]
                        [--rows N] [--kills N] [--durable] [--json]

  --only ROWS    separated by commas; without it all but those marked long
${ROWS.map(({ id, about, long }) => `                   ${id.padEnd(10)} ${about}${long ? ' (long)' : ''}`).join('\n')}
  --peer         the row of that name, against the gateway that its users would run instead
  --windows N    how often each contender is measured, in turn with the others; default 5
  --window-ms N  how long a window is; default 1500
  --minutes N    how long the soak takes; default 20
  --rows N       of the batch; default 10000
  --kills N      of workers and gateways while it runs; default 20
  --durable      Postgres waits for the disk at every commit; otherwise it does not
  --json         figures as JSON instead of a table
`;

export type Arguments = ReturnType<typeof readArguments>;

export function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    only: { type: 'string' },
    peer: { type: 'boolean', default: false },
    windows: { type: 'string', default: '5' },
    'window-ms': { type: 'string', default: '1500' },
    minutes: { type: 'string', default: '20' },
    rows: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '20' },
    durable: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  if (options.peer && options.only !== undefined) throw new UsageError('--peer is a row of its own: give no --only');
  const ids = ROWS.map(({ id }) => id);
  const chosen = options.peer ? 'peer' : options.only;
  const only = chosen === undefined ? null : names('row', chosen, ids);
  return {
    rows: only ? only.map((id) => ROWS.find((row) => row.id === id)!) : ROWS.filter(({ long }) => !long),
    windows: wholeNumber('--windows', options.windows, 1, 1_000),
    windowMs: wholeNumber('--window-ms', options['window-ms'], 10, 60_000),
    soakMinutes: wholeNumber('--minutes', options.minutes, 1, 1_440),
    batch: {
      rows: wholeNumber('--rows', options.rows, 1, 100_000),
      kills: wholeNumber('--kills', options.kills, 0, 1_000),
    },
    durable: options.durable,
    json: options.json,
  };
}
