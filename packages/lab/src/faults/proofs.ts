import { progressOn } from '../terminal/progress.ts';
import type { Arguments, Experiment } from './arguments.ts';
import { onBench } from './experiment.ts';
import { attackModels, favour, favourHolds, favourLines } from './favour.ts';
import { outage, outageHolds, outageLines } from './outage.ts';
import type { OwnServers } from './own-servers.ts';
import { playScripts, scriptLines, scriptsHold } from './play-scripts.ts';
import { redisOutageLines, redisOutages, stuck } from './redis-outages.ts';
import { besiege } from './siege/besiege.ts';
import { PLANS, type PlanName } from './siege/plans.ts';
import { reportOf, siegeHolds, siegeLines } from './siege/report.ts';
import { startSimulator } from './simulators.ts';
import { strikeLines, strikesHold, strikeWorkers } from './strike-workers.ts';

// The experiments by name, each with what it leaves: figures for machines, lines for people, and a verdict.

export interface Proof {
  readonly figures: object;
  readonly lines: readonly string[];
  readonly holds: boolean;
}

type Prove = (args: Arguments, servers: OwnServers, signal: AbortSignal) => Promise<Proof>;

const siege =
  (name: PlanName): Prove =>
  async ({ seed, minutes, kills, record }, servers, signal) => {
    const settings = { plan: PLANS[name], seed, minutes, kills, record };
    const report = await onBench(servers, signal, async (bench) =>
      reportOf(await besiege(bench, servers, settings, progressOn(process.stderr)), settings),
    );
    return { figures: report, lines: siegeLines(report), holds: siegeHolds(report) };
  };

export const proofs: Record<Experiment, Prove> = {
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
    const report = await onBench(servers, signal, (bench) => strikeWorkers(bench, args, progress));
    return { figures: report, lines: strikeLines(report), holds: strikesHold(report) };
  },
  async scripts(_args, servers, signal) {
    const rows = await onBench(servers, signal, (bench) => playScripts(bench, progressOn(process.stderr)));
    return { figures: { rows }, lines: scriptLines(rows), holds: scriptsHold(rows) };
  },
  async outage({ seed }, servers, signal) {
    const report = await onBench(servers, signal, (bench) => outage(bench, seed, progressOn(process.stderr)));
    return { figures: report, lines: outageLines(report), holds: outageHolds(report) };
  },
  async favour({ seed, polls }, servers, signal) {
    const rows = await onBench(servers, signal, async ({ home, folder }) => {
      const { modelsUrl } = await startSimulator(home, folder, { seed, latency_scale: 0, models: attackModels() });
      return favour({ folder, modelsUrl, seed, polls, signal }, progressOn(process.stderr));
    });
    return { figures: { rows }, lines: favourLines(rows, seed), holds: favourHolds(rows) };
  },
};
