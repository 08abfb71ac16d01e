import { randomBytes } from 'node:crypto';
import { startRestartable } from '@eloquentpoll/services/restartable';
import { runExperiment } from '../fixture/experiment.ts';
import { names, number, parseOptions, runCommand, wholeNumber } from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { runFaultCampaign } from './campaign.ts';
import { PLANS, type PlanName } from './plans.ts';
import { type CampaignReport, campaignHolds, campaignLines, reportOf } from './report.ts';

// npm run chaos: real processes, real faults, and a verdict. The exit code is 1 when anything that must hold did not.

const USAGE = `usage: npm run chaos -- [--only NAMES] [--seed TEXT] [--minutes N] [--kills N] [--stops N] [--polls N]
                         [--in-flight N] [--workers N] [--record FILE] [--json]

  --only NAMES   separated by commas; all without it
                   service   every fault there is, while callers use every way to run a poll
                   rolling   every process is restarted in good order, over and over, unnoticed
                   streams   Redis and the network fail under streams
                   batches   batches and cancellations while processes are killed and Redis loses everything
                   keys      a hundred requests at once with one key, while processes are killed
                   workers   workers are killed and stopped under load
  --seed TEXT    repeats a campaign; a new one without it
  --minutes N    how long faults are injected, default 3; workers goes by the next three instead
  --kills N      SIGKILLs of workers, default 200; elsewhere the most of any process
  --stops N      SIGSTOPs of workers that last longer than a lease, default 50
  --polls N      at least so many polls while workers fail, default 2000
  --in-flight N  polls at once while workers fail, default 40
  --workers N    so many are killed and stopped, default 3
  --record FILE  every operation of the callers, one JSON object a line
  --json         figures as JSON instead of tables

Everything that is needed is started for it and gone afterwards.
`;

const ALL = Object.keys(PLANS) as PlanName[];

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    only: { type: 'string', default: ALL.join(',') },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    kills: { type: 'string', default: '200' },
    stops: { type: 'string', default: '50' },
    polls: { type: 'string', default: '2000' },
    'in-flight': { type: 'string', default: '40' },
    workers: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '3' },
    record: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  return {
    only: names('experiment', options.only, ALL),
    seed: options.seed,
    sizes: {
      kills: wholeNumber('--kills', options.kills, 0, 100_000),
      stops: wholeNumber('--stops', options.stops, 0, 10_000),
      polls: wholeNumber('--polls', options.polls, 1, 1_000_000),
      inFlight: wholeNumber('--in-flight', options['in-flight'], 1, 500),
      workers: wholeNumber('--workers', options.workers, 2, 50),
      minutes: number('--minutes', options.minutes, 0.05, 600),
    },
    record: options.record ?? null,
    json: options.json,
  };
}

await runCommand(USAGE, async ({ group, signal }) => {
  const { only, seed, sizes, record, json } = readArguments(process.argv.slice(2));
  await using servers = await startRestartable(await group(), process.env);
  const reports: Partial<Record<PlanName, CampaignReport & { holds: boolean }>> = {};
  for (const name of only) {
    const settings = { plan: PLANS[name](sizes), seed, kills: sizes.kills, record };
    const report = await runExperiment(servers, signal, async (experiment) =>
      reportOf(await runFaultCampaign(experiment, servers, settings, progressOn(process.stderr)), settings),
    );
    reports[name] = { holds: campaignHolds(report), ...report };
    if (!json) process.stdout.write(`${campaignLines(report).join('\n')}\n\n`);
  }
  const broken = only.filter((name) => !reports[name]?.holds);
  const holds = broken.length === 0;
  if (json) process.stdout.write(`${JSON.stringify({ seed, holds, ...reports }, null, 2)}\n`);
  else process.stdout.write(`seed ${seed}: ${holds ? 'everything held' : 'NOT everything held'}\n`);
  if (!holds) {
    const { inFlight, ...others } = sizes;
    const options = Object.entries({ only: broken, seed, ...others, 'in-flight': inFlight });
    process.stderr.write(`again: npm run chaos -- ${options.map(([name, value]) => `--${name} ${value}`).join(' ')}\n`);
  }
  return holds ? 0 : 1;
});
