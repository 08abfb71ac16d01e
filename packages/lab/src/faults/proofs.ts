import type { RestartableServers } from '@eloquentpoll/services/restartable';
import { runExperiment } from '../fixture/experiment.ts';
import { startSimulator } from '../fixture/simulators.ts';
import { progressOn } from '../terminal/progress.ts';
import { attackModels, favour, favourHolds, favourLines } from './favour.ts';
import type { Arguments } from './main.ts';
import { outage, outageHolds, outageLines } from './outage.ts';
import { playScripts, scriptLines, scriptsHold } from './play-scripts.ts';
import { redisOutageLines, redisOutages, stuck } from './redis-outages.ts';
import { besiege } from './siege/besiege.ts';
import { PLANS, type PlanName } from './siege/plans.ts';
import { reportOf, siegeHolds, siegeLines } from './siege/report.ts';
import { strikeLines, strikesHold, strikeWorkers } from './strike-workers.ts';

// The experiments by name, each with what it leaves: figures for machines, lines for people, and a verdict.

export const EXPERIMENTS = [
  'service',
  'rolling',
  'streams',
  'keys',
  'redis',
  'workers',
  'scripts',
  'outage',
  'favour',
] as const;
export type Experiments = (typeof EXPERIMENTS)[number];

export interface Proof {
  readonly figures: object;
  readonly lines: readonly string[];
  readonly holds: boolean;
}

type Prove = (args: Arguments, servers: RestartableServers, signal: AbortSignal) => Promise<Proof>;

const siege =
  (name: PlanName): Prove =>
  async ({ seed, minutes, kills, record }, servers, signal) => {
    const settings = { plan: PLANS[name], seed, minutes, kills, record };
    const report = await runExperiment(servers, signal, async (bench) =>
      reportOf(await besiege(bench, servers, settings, progressOn(process.stderr)), settings),
    );
    return { figures: report, lines: siegeLines(report), holds: siegeHolds(report) };
  };

export const proofs: Record<Experiments, Prove> = {
  service: siege('service'),
  rolling: siege('rolling'),
  streams: siege('streams'),
  keys: siege('keys'),
  async redis({ seed, outages: count }, { redis }, signal) {
    const outages = await redisOutages(
      { redisUrl: redis.url, seed, outages: count, consumers: 50, lastsMs: [1_000, 60_000], signal },
      progressOn(process.stderr),
    );
    const lines = redisOutageLines(outages, seed);
    return { figures: { seed, outages, stuck: stuck(outages) }, lines, holds: stuck(outages) === 0 };
  },
  async workers(args, servers, signal) {
    const progress = progressOn(process.stderr);
    const report = await runExperiment(servers, signal, (bench) => strikeWorkers(bench, args, progress));
    return { figures: report, lines: strikeLines(report), holds: strikesHold(report) };
  },
  async scripts(_args, servers, signal) {
    const rows = await runExperiment(servers, signal, (bench) => playScripts(bench, progressOn(process.stderr)));
    return { figures: { rows }, lines: scriptLines(rows), holds: scriptsHold(rows) };
  },
  async outage({ seed }, servers, signal) {
    const report = await runExperiment(servers, signal, (bench) => outage(bench, seed, progressOn(process.stderr)));
    return { figures: report, lines: outageLines(report), holds: outageHolds(report) };
  },
  async favour({ seed, polls }, servers, signal) {
    const rows = await runExperiment(servers, signal, async ({ group }) => {
      const { modelsUrl } = await startSimulator(group, { seed, latency_scale: 0, models: attackModels() });
      return favour({ folder: group.folder, modelsUrl, seed, polls, signal }, progressOn(process.stderr));
    });
    return { figures: { rows }, lines: favourLines(rows, seed), holds: favourHolds(rows) };
  },
};
