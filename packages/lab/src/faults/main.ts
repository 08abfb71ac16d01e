import { randomBytes } from 'node:crypto';
import { startRestartable } from '@eloquentpoll/services/restartable';
import { runExperiment } from '../fixture/experiment.ts';
import { continueFile, repeatedBy } from '../proof/continued.ts';
import {
  type CommandRun,
  names,
  number,
  parseOptions,
  runCommand,
  UsageError,
  wholeNumber,
} from '../terminal/command.ts';
import { progressOn } from '../terminal/progress.ts';
import { verdictLine } from '../terminal/verdict-line.ts';
import { type CampaignServers, runFaultCampaign } from './campaign.ts';
import { openClusterNetwork } from './cluster-network.ts';
import { openFailover } from './failover.ts';
import type { Plan } from './plan.ts';
import { PLANS, type PlanName } from './plans.ts';
import { openPostgresReplica } from './postgres-replica.ts';
import { newestTag } from './releases/bring-release.ts';
import { openUpgrade } from './releases/upgrade.ts';
import { brokenRules, brokenText, type CampaignReport, campaignHolds, campaignLines, reportOf } from './report.ts';

// npm run chaos: real processes, real faults, and a verdict. Exit code 1 if a rule was violated.

const USAGE = `usage: npm run chaos -- [--only NAMES] [--seed TEXT] [--minutes N] [--kills N] [--stops N] [--polls N]
                         [--in-flight N] [--workers N] [--from REVISION] [--record FILE] [--continue FILE] [--json]

  --only NAMES   separated by commas; all but releases without it
                   service   every fault there is, while callers use every way to run a poll
                   rolling   every process is restarted in good order, over and over, unnoticed
                   releases  the release of --from and this one side by side: upgrade, back, and again
                   cluster   the same on a Redis cluster whose masters fail over while slots are moved
                   promises  webhooks, receipts, limits of keys, cancellations and deletions under every fault there is,
                             with a replica of Postgres that answers lists
                   promises-cluster  the same on a Redis cluster whose masters fail over, without that replica
                   audits    polls are audited under every fault there is
                   audits-cluster  the same on a Redis cluster whose masters fail over
                   spend     providers charge up to the ceiling while everything fails
                   neighbours  quiet accounts beside one that floods, under every fault there is
                   streams   Redis and the network fail under streams
                   batches   batches and cancellations while processes are killed and Redis loses everything
                   pooler    PgBouncer stands before Postgres and is killed, as are processes and Postgres
                   failover  the primary Postgres is killed, its synchronous standby promoted, and the old one comes back
                   failover-async  the same for a lagging standby: what was acknowledged and lost is counted
                   keys      a hundred requests at once with one key, while processes are killed
                   workers   workers are killed and stopped under load
  --seed TEXT    repeats a campaign; a new one without it
  --minutes N    how long faults are injected, default 3; longer until the faults that an experiment is about were
                 there; neighbours has so many rounds with and without a flood, of 25 s each; workers goes by the
                 next three instead
  --kills N      SIGKILLs of workers, default 200; elsewhere the most of any process
  --stops N      SIGSTOPs of workers that last longer than a lease, default 50
  --polls N      at least so many polls while workers fail, default 2000
  --in-flight N  callers at once, instead of as many as the experiment has
  --workers N    so many are killed and stopped, default 3
  --from REVISION  a tag or commit of this clone, which is built as it was; without it the newest tag
  --record FILE  every operation of the callers, one JSON object a line; of one experiment
  --continue FILE  adds the run to those in the file (docs/proofs/runs.jsonl)
  --json         figures as JSON instead of tables

Everything that is needed is started for it and gone afterwards.
`;

const ALL = Object.keys(PLANS) as PlanName[];
const USUAL = ALL.filter((name) => name !== 'releases');
const experimentOf = (name: PlanName): string => `chaos ${name}`;

function readArguments(argv: readonly string[]) {
  const options = parseOptions(argv, {
    only: { type: 'string', default: USUAL.join(',') },
    seed: { type: 'string', default: randomBytes(4).toString('hex') },
    kills: { type: 'string', default: '200' },
    stops: { type: 'string', default: '50' },
    polls: { type: 'string', default: '2000' },
    'in-flight': { type: 'string' },
    workers: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '3' },
    from: { type: 'string' },
    record: { type: 'string' },
    continue: { type: 'string' },
    json: { type: 'boolean', default: false },
  });
  const only = names('experiment', options.only, ALL);
  if (options.record !== undefined && only.length > 1)
    throw new UsageError('--record takes one experiment: each would overwrite the operations of the one before');
  return {
    only,
    seed: options.seed,
    sizes: {
      kills: wholeNumber('--kills', options.kills, 0, 100_000),
      stops: wholeNumber('--stops', options.stops, 0, 10_000),
      polls: wholeNumber('--polls', options.polls, 1, 1_000_000),
      workers: wholeNumber('--workers', options.workers, 2, 50),
      minutes: number('--minutes', options.minutes, 0.05, 600),
    },
    inFlight: options['in-flight'] === undefined ? null : wholeNumber('--in-flight', options['in-flight'], 1, 500),
    from: options.from ?? null,
    record: options.record ?? null,
    runFile: options.continue ?? null,
    json: options.json,
  };
}

/** A Postgres, with a standby or a replica if the plan has one, and one Redis or a cluster. */
async function startServers(
  { isOnCluster = false, standby, hasReplica = false, faults }: Plan,
  { seed, from }: { seed: string; from: string | null },
  group: CommandRun['group'],
  made: AsyncDisposableStack,
): Promise<CampaignServers> {
  const network = isOnCluster ? made.use(openClusterNetwork(seed)) : null;
  const own = await group();
  const servers = made.use(await startRestartable(own, process.env, network));
  if (faults === 'releases') {
    const upgrade = await openUpgrade(from ?? (await newestTag()), servers.databaseUrl, own.folder);
    return { ...servers, network, failover: null, replica: null, upgrade, migrate: upgrade.begin };
  }
  const replica = hasReplica ? await openPostgresReplica(own, servers.databaseUrl) : null;
  if (!standby) return { ...servers, network, failover: null, replica, upgrade: null };
  const failover = made.use(await openFailover(own, servers, standby));
  return { ...servers, network, failover, replica, upgrade: null, databaseUrl: failover.databaseUrl };
}

await runCommand(USAGE, async ({ group, signal }) => {
  const argv = process.argv.slice(2);
  const { only, seed, sizes, inFlight, from, record, runFile, json } = readArguments(argv);
  const kept = runFile === null ? null : await continueFile(runFile, repeatedBy('chaos', argv));
  for (const name of only) kept?.refuseRepeated(experimentOf(name), seed);
  await using made = new AsyncDisposableStack();
  const started = new Map<string, CampaignServers>();
  const reports: Partial<Record<PlanName, CampaignReport & { holds: boolean }>> = {};
  for (const name of only) {
    const plan: Plan = { ...PLANS[name](sizes), ...(inFlight !== null && { atOnce: inFlight }) };
    const settings = { plan, seed, kills: sizes.kills, record };
    // Servers that went through a failover or an upgrade cannot be reused by other plans; others need no replica.
    const kind =
      plan.standby || plan.hasReplica || plan.faults === 'releases'
        ? name
        : plan.isOnCluster
          ? 'cluster'
          : 'one of each';
    const servers = started.get(kind) ?? (await startServers(plan, { seed, from }, group, made));
    started.set(kind, servers);
    const report = await runExperiment(servers, signal, async (experiment) =>
      reportOf(await runFaultCampaign(experiment, servers, settings, progressOn(process.stderr)), settings),
    );
    const holds = campaignHolds(report);
    reports[name] = { holds, ...report };
    const { counts, faults } = report;
    const note = brokenText(report);
    const sums = await kept?.add({
      experiment: experimentOf(name),
      seed,
      holds,
      ...(!holds && { broken: brokenRules(report) }),
      counts,
      faults,
      ...(note && { note }),
    });
    if (!json) process.stdout.write(`${[...campaignLines(report), ...(sums ?? [])].join('\n')}\n\n`);
  }
  const broken = only.filter((name) => !reports[name]?.holds);
  const holds = broken.length === 0;
  if (json) process.stdout.write(`${JSON.stringify({ seed, holds, ...reports }, null, 2)}\n`);
  else process.stdout.write(`seed ${seed}: ${verdictLine(broken)}\n`);
  if (!holds) {
    const chosen = { ...(inFlight !== null && { 'in-flight': inFlight }), ...(from && { from }) };
    const options = Object.entries({ only: broken, seed, ...sizes, ...chosen });
    process.stderr.write(`again: npm run chaos -- ${options.map(([name, value]) => `--${name} ${value}`).join(' ')}\n`);
  }
  return holds ? 0 : 1;
});
