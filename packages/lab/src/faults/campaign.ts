import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOGIN_COOKIE, sealer } from '@eloquentpoll/gateway/login-cookie';
import type { RestartableServers } from '@eloquentpoll/services/restartable';
import { insertLogin } from '@eloquentpoll/storage';
import { createFundedAccount, insertApiKey, KEY_PEPPER } from '../fixture/accounts.ts';
import type { Experiment } from '../fixture/experiment.ts';
import { startSimulator } from '../fixture/simulators.ts';
import type { Stores } from '../fixture/stores.ts';
import { CALM } from '../proxy/weather.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { CallerAccount } from './callers.ts';
import { type Fault, PROCESS_KILLS } from './fault-kinds.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { type CampaignHistory, readCampaignHistory } from './history.ts';
import { injectFaults } from './inject-faults.ts';
import { startLoad } from './load.ts';
import { observe } from './observer.ts';
import { recorder } from './operations.ts';
import type { Plan } from './plans.ts';
import { rollingRestarts } from './rolling.ts';

// The whole product with a faulty network between all of its parts, callers that retry, and faults. At the end everything
// is repaired, every caller gets time for its answer, and the history is judged.

export interface CampaignSettings {
  plan: Plan;
  seed: string;
  /** Process kills after which no more faults are injected; a plan that counts its own faults takes no notice. */
  kills: number;
  /** Where every operation is written, one JSON object a line. */
  record: string | null;
}

export interface Campaign {
  history: CampaignHistory;
  fleet: Pick<Fleet, 'warnings' | 'startsMs'>;
  skipped: ReadonlyMap<string, number>;
  tookMs: number;
}

const ANSWERS_WITHIN_MS = 200_000;
const HERD = 100;
const NO_LIMIT = '100000000/60';

const GATEWAY = {
  BASE_URL: 'http://localhost:8080',
  HOST: '127.0.0.1',
  KEY_PEPPER,
  MODELS_FILE: 'simulator',
  FREE_DAILY_CAP_USD: '100000',
  STREAMS_PER_ACCOUNT: '1000000',
  RATE_LIMITS: ['poll', 'free_poll', 'session', 'account', 'batch'].map((name) => `${name}=${NO_LIMIT}`).join(','),
};
const WORKER = {
  MODELS_FILE: 'simulator',
  WORKER_CONCURRENCY: '50',
  WORKER_DRAIN_MS: '15000',
  FREE_FAILURES_USD: '100000',
};

export async function runFaultCampaign(
  { stores, group, signal }: Experiment,
  servers: RestartableServers,
  { plan, seed, ...settings }: CampaignSettings,
  progress: ProgressLine,
): Promise<Campaign> {
  const began = performance.now();
  await using observer = await observe(stores);
  const simulator = await startSimulator(group, { seed, latency_scale: 1, call_log_size: 1_000_000 });
  const common = { REDIS_PREFIX: stores.redisPrefix, LOG_LEVEL: 'info' };
  await using fleet = await openFleet({
    group,
    gateways: 2,
    workers: plan.workers,
    databaseUrl: stores.databaseUrl,
    redisUrl: stores.redisUrl,
    modelsUrl: simulator.modelsUrl,
    seed,
    env: { gateway: { ...common, ...GATEWAY }, worker: { ...common, ...WORKER } },
    signal,
  });
  const file = createWriteStream(settings.record ?? join(group.folder, 'operations.jsonl'));
  const record = recorder(file);
  const quit = new AbortController();
  const gateways = fleet.slots
    .filter(({ role }) => role === 'gateway')
    .map(({ name, links }) => ({ name, url: `http://127.0.0.1:${links.callers!.port}` }));
  const accounts = await Promise.all(Array.from({ length: 4 }, () => openAccount(stores)));
  const load = startLoad(
    { recorder: record, gateways, accounts, quit: quit.signal, herd: HERD },
    plan.callers,
    plan.atOnce,
    seed,
  );

  const over = new AbortController();
  const target = { fleet, servers, stores, signal: AbortSignal.any([signal, over.signal]) };
  const killed = (faults: readonly Fault[]) => faults.filter(({ kind }) => PROCESS_KILLS.includes(kind)).length;
  const isCounted = plan.minOperations !== undefined;
  const injection =
    plan.faults === 'restarts'
      ? rollingRestarts(target)
      : injectFaults(plan.faults, target, seed, (faults) => !isCounted && killed(faults) >= settings.kills);
  const shown = setInterval(() => {
    const { operations } = record;
    const open = operations.filter(({ outcome, kind }) => outcome === null && kind !== 'balance').length;
    progress.show(
      `${Math.round((performance.now() - began) / 1_000)} s: ${injection.injected.length} faults, ` +
        `${killed(injection.injected)} kills, ${operations.length} operations, ${open} open, ` +
        `${fleet.slots.filter(({ app }) => app !== null).length} of ${fleet.slots.length} processes ready`,
    );
  }, 250);
  async function countedFaults(): Promise<void> {
    await injection.done;
    while (record.operations.length < (plan.minOperations ?? 0)) await sleep(100, undefined, { signal: target.signal });
  }
  try {
    const time = sleep(plan.minutes * 60_000, 'over' as const, { signal });
    const first = await Promise.race([time, countedFaults()]);
    if (isCounted && first === 'over') throw new Error(`the faults were not done within ${plan.minutes} minutes`);
    over.abort();
    await injection.done;
    for (const link of fleet.links) link.set(CALM);
    await fleet.complete(signal);
    const late = setTimeout(() => quit.abort(), ANSWERS_WITHIN_MS);
    await load.finish();
    clearTimeout(late);
    await everyPollHasEnded(stores, signal);
  } finally {
    clearInterval(shown);
    quit.abort();
    over.abort();
    await load.finish();
    progress.end();
    await new Promise<void>((resolve) => file.end(() => resolve()));
  }
  const history = await readCampaignHistory(stores, observer, {
    operations: record.operations,
    calls: await simulator.calls(),
    faults: injection.injected,
    crashes: fleet.crashes,
  });
  return { history, fleet, skipped: injection.skipped, tookMs: performance.now() - began };
}

async function openAccount({ storage }: Stores): Promise<CallerAccount> {
  const id = await createFundedAccount(storage);
  const { key } = await insertApiKey(storage, id);
  const login = await insertLogin(storage, { accountId: id });
  return { id, key, cookie: `${LOGIN_COOKIE}=${await sealer([KEY_PEPPER]).seal(login)}` };
}

/** Also polls whose callers have given up have to end. */
async function everyPollHasEnded({ query }: Stores, signal: AbortSignal): Promise<void> {
  const until = performance.now() + ANSWERS_WITHIN_MS;
  while (performance.now() < until) {
    const [row] = await query<{ running: number }>(
      `select ((select count(*) from polls where status = 'running')
             + (select count(*) from batches where status in ('running', 'canceling')))::integer as running`,
    );
    if (row!.running === 0) return;
    await sleep(250, undefined, { signal });
  }
}
