import { randomBytes } from 'node:crypto';
import { startRestartable } from '@eloquentpoll/services/restartable';
import { names, number, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { EXPERIMENTS, type Experiments, proofs } from './proofs.ts';

// npm run chaos: real processes, real faults, and a verdict. The exit code is 1 when anything that must hold did not.

const USAGE = `usage: npm run chaos -- [--only NAMES] [--seed TEXT] [--minutes N] [--kills N] [--stops N] [--polls N]
                         [--outages N] [--in-flight N] [--workers N] [--record FILE] [--json]

  --only NAMES   separated by commas; all without it
                   service   everything is struck while callers use every way to run a poll
                   rolling   every process is restarted in good order, over and over, unnoticed
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

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    only: { type: 'string', default: EXPERIMENTS.join(',') },
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
  });
  return {
    only: names('experiment', options.only, EXPERIMENTS),
    seed: options.seed ?? randomBytes(4).toString('hex'),
    kills: wholeNumber('--kills', options.kills, 0, 100_000),
    stops: wholeNumber('--stops', options.stops, 0, 10_000),
    polls: wholeNumber('--polls', options.polls, 1, 1_000_000),
    inFlight: wholeNumber('--in-flight', options['in-flight'], 1, 500),
    workers: wholeNumber('--workers', options.workers, 2, 50),
    outages: wholeNumber('--outages', options.outages, 1, 100_000),
    minutes: number('--minutes', options.minutes, 0.05, 600),
    record: options.record ?? null,
    json: options.json,
  };
}

export type Arguments = ReturnType<typeof readArguments>;

await runCommand(USAGE, async ({ group, signal }) => {
  const args = readArguments(process.argv.slice(2));
  await using servers = await startRestartable(await group(), process.env);
  const figures: Partial<Record<Experiments, object>> = {};
  const broken: Experiments[] = [];
  for (const name of args.only) {
    const proof = await proofs[name](args, servers, signal);
    figures[name] = { holds: proof.holds, ...proof.figures };
    if (!proof.holds) broken.push(name);
    if (!args.json) process.stdout.write(`${proof.lines.join('\n')}\n\n`);
  }
  const holds = broken.length === 0;
  if (args.json) process.stdout.write(`${JSON.stringify({ seed: args.seed, holds, ...figures }, null, 2)}\n`);
  else process.stdout.write(`seed ${args.seed}: ${holds ? 'everything held' : 'NOT everything held'}\n`);
  if (!holds) process.stderr.write(`again: ${commandOf({ ...args, only: broken })}\n`);
  return holds ? 0 : 1;
});

/** The command that makes the same choices. */
function commandOf({ only, seed, kills, stops, polls, outages, inFlight, workers, minutes }: Arguments): string {
  const settings = { only, seed, minutes, kills, stops, polls, outages, 'in-flight': inFlight, workers };
  const options = Object.entries(settings).map(([name, value]) => `--${name} ${value}`);
  return `npm run chaos -- ${options.join(' ')}`;
}
