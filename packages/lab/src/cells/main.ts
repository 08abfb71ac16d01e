import { randomBytes } from 'node:crypto';
import { parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { tryCells } from './try-cells.ts';

// npm run cells:try: two whole cells behind the shipped router, and an account that moves under load.

const USAGE = `usage: npm run cells:try -- [--moves N] [--kills N] [--callers N] [--seed TEXT] [--json]

  --moves N    of the account, there and back in turn, default 6
  --kills N    so many steps of each move are killed, default 6: all of them
  --callers N  at once for each of three accounts, default 3
  --seed TEXT  of the simulated models
  --json       figures as JSON

Two Postgres, two Redis and an nginx are started for it and gone afterwards.
`;

await runCommand(USAGE, async ({ group, signal }) => {
  const options = parseOptions(process.argv.slice(2), {
    moves: { type: 'string', default: '6' },
    kills: { type: 'string', default: '6' },
    callers: { type: 'string', default: '3' },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    json: { type: 'boolean', default: false },
  });
  const progress = progressOn(process.stderr);
  const tried = await tryCells(
    await group(),
    {
      moves: wholeNumber('--moves', options.moves, 1, 200),
      killsPerMove: wholeNumber('--kills', options.kills, 0, 20),
      callersPerAccount: wholeNumber('--callers', options.callers, 1, 50),
      seed: options.seed,
    },
    { progress, signal },
  );
  progress.end();
  if (options.json) process.stdout.write(`${JSON.stringify({ seed: options.seed, ...tried }, null, 2)}\n`);
  else {
    const lines = [
      ...Object.entries(tried.figures).map(([name, value]) => `${name}: ${value}`),
      `repeated: ${JSON.stringify(tried.repeated)}`,
      ...tried.problems.map((problem) => `  wrong: ${problem}`),
      `seed ${options.seed}: ${verdictLine(tried.holds ? [] : ['the problems above'])}`,
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return tried.holds ? 0 : 1;
});
