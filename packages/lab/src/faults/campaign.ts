import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LOGIN_COOKIE, sealer } from '@eloquentpoll/gateway/login-cookie';
import type { RestartableServers } from '@eloquentpoll/services/restartable';
import { insertLogin } from '@eloquentpoll/storage';
import { createFundedAccount, insertApiKey, KEY_PEPPER } from '../fixture/accounts.ts';
import type { Experiment } from '../fixture/experiment.ts';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';
import { startSimulator } from '../fixture/simulators.ts';
import type { Servers, Stores } from '../fixture/stores.ts';
import { usualModels } from '../fixture/usual-models.ts';
import { UNDISTURBED } from '../proxy/link-conditions.ts';
import { chance } from '../terminal/chance.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import { everyAuditHasEnded, readAuditHistory } from './audited.ts';
import { besideFlood } from './beside-flood.ts';
import { startLoad } from './caller-load.ts';
import type { CallerAccount } from './caller-options.ts';
import { isEnough, killsOf, planIsOver } from './campaign-end.ts';
import type { ClusterNetwork } from './cluster-network.ts';
import { untilClusterIsWhole } from './cluster-servers.ts';
import type { Failover } from './failover.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { type CampaignHistory, readCampaignHistory } from './history.ts';
import { injectFaults } from './inject-faults.ts';
import { observe } from './observer.ts';
import { type Attempt, type Recorder, recorder } from './operations.ts';
import type { Plan } from './plan.ts';
import type { PostgresReplica } from './postgres-replica.ts';
import { openPromised, PROMISED_ENV } from './promised.ts';
import { startClientCalls } from './releases/client-calls.ts';
import { judgeAnswers } from './releases/judge-answers.ts';
import { type Release, runOperator } from './releases/release.ts';
import { rollReleases } from './releases/roll-releases.ts';
import type { Upgrade } from './releases/upgrade.ts';
import { rollingRestarts } from './rolling.ts';
import { watchPooler } from './watch-pooler.ts';

// The whole product with a faulty network between all its parts, callers that retry, and injected faults. At the end
// everything is repaired, every caller gets time for its answer, and the history is judged.

export interface CampaignSettings {
  plan: Plan;
  seed: string;
  /** Number of process kills after which fault injection stops; ignored by plans that count their own faults or have rounds. */
  kills: number;
  /** File to which every operation is written, as JSON lines. */
  record: string | null;
}

export interface CampaignServers extends RestartableServers, Pick<Servers, 'migrate'> {
  /** Set for a cluster. */
  readonly network: ClusterNetwork | null;
  readonly failover: Failover | null;
  /** Null if gateways have no replica of Postgres. */
  readonly replica: PostgresReplica | null;
  /** Null if there is only one release. */
  readonly upgrade: Upgrade | null;
}

export interface Campaign {
  history: CampaignHistory;
  fleet: Pick<Fleet, 'warnings' | 'startsMs'>;
  skipped: ReadonlyMap<string, number>;
  tookMs: number;
}

const ANSWERS_WITHIN_MS = 200_000;
/** A lost poll never answers, so a caller does not wait longer than this. */
const LOST_WITHIN_MS = 30_000;
const WHOLE_WITHIN_MS = 30_000;
const HERD = 100;
const ACCOUNTS = 4;

const GATEWAY = {
  BASE_URL: 'http://localhost:8080',
  HOST: '127.0.0.1',
  KEY_PEPPER,
  MODELS_FILE: 'simulator',
  FREE_DAILY_CAP_USD: '100000',
  STREAMS_PER_ACCOUNT: '1000000',
  RATE_LIMITS: NO_RATE_LIMITS,
};
const WORKER = {
  MODELS_FILE: 'simulator',
  WORKER_CONCURRENCY: '50',
  WORKER_DRAIN_MS: '15000',
  FREE_FAILURES_USD: '100000',
};

export async function runFaultCampaign(
  { stores, group, signal }: Experiment,
  servers: CampaignServers,
  { plan, seed, ...settings }: CampaignSettings,
  progress: ProgressLine,
): Promise<Campaign> {
  const began = performance.now();
  const { upgrade } = servers;
  await using observer = await observe(stores);
  const simulator = await startSimulator(group, {
    ...{ seed, latency_scale: plan.latencyScale ?? 1, call_log_size: 1_000_000 },
    models: usualModels(),
  });
  const more = plan.promises ? PROMISED_ENV : null;
  const common = { REDIS_PREFIX: stores.redisPrefix, LOG_LEVEL: 'info', ...more?.both };
  const pooler = plan.pooled === undefined ? null : await servers.pooler();
  const pool = plan.pooled === undefined ? {} : { DATABASE_POOL: String(plan.pooled) };
  const [primaryUrl, standbyUrl] = servers.failover?.addressesOf(stores.databaseUrl) ?? [stores.databaseUrl];
  await using fleet = await openFleet({
    group,
    gateways: 2,
    workers: plan.workers,
    spares: plan.spares ?? 0,
    databaseUrl: pooler?.through(primaryUrl) ?? primaryUrl,
    ...(standbyUrl && { standbyUrl }),
    ...(servers.replica && { replicaUrl: servers.replica.urlOf(stores.databaseUrl) }),
    redisUrl: stores.redisUrl,
    clusterLinks: servers.network?.links ?? [],
    modelsUrl: simulator.modelsUrl,
    seed,
    env: {
      gateway: { ...common, ...GATEWAY, ...pool, ...more?.gateway, ...plan.env },
      worker: { ...common, ...WORKER, ...pool, ...more?.worker, ...plan.env },
    },
    ...(upgrade && { release: upgrade.from }),
    signal,
  });
  const watch = pooler && watchPooler(stores, fleet.slots, pooler);
  const file = createWriteStream(settings.record ?? join(group.folder, 'operations.jsonl'));
  const record = recorder(file);
  const quit = new AbortController();
  const judged = upgrade && (await judgeAnswers(upgrade));
  const gateways = fleet.slots
    .filter(({ role }) => role === 'gateway')
    .map((slot) => ({
      name: slot.name,
      url: `http://127.0.0.1:${slot.links.callers!.port}`,
      ...(judged && { judge: judged.judge.bind(null, slot) }),
    }));
  const accounts = await Promise.all(
    Array.from({ length: plan.beside ? 1 + plan.beside.quiet : ACCOUNTS }, () =>
      upgrade ? openAccountBy(upgrade.from, stores) : openAccount(stores),
    ),
  );
  await using promised = plan.promises
    ? await openPromised(stores, gateways, accounts, () => openAccount(stores), chance(`${seed}|receiver`))
    : null;
  const over = new AbortController();
  const { cluster, network, failover, replica } = servers;
  const underFaults = cluster && network && { cluster, network };
  const target = {
    ...{ fleet, servers, stores, cluster: underFaults, failover, replica },
    uploading: () => uploadsIn(record),
    signal: AbortSignal.any([signal, over.signal]),
  };
  const { callers: kinds, atOnce, flexShare, faults } = plan;
  const callers = { recorder: record, gateways, accounts, quit: quit.signal, herd: HERD, flexShare, promised };
  const beside =
    plan.beside && typeof faults !== 'string'
      ? besideFlood({ target, injectors: faults, callers, kinds, atOnce, rounds: plan.beside.rounds, seed })
      : null;
  const load = beside?.load ?? startLoad(callers, kinds, atOnce, seed);
  const clients = upgrade && (await startClientCalls({ upgrade, fleet, accounts, recorder: record, seed }));
  const isCounted = plan.minOperations !== undefined;
  const injection =
    beside?.injection ??
    (faults === 'restarts'
      ? rollingRestarts(target)
      : faults === 'releases'
        ? rollReleases(target, upgrade!, seed)
        : injectFaults(faults, target, seed, (injected) => isEnough(plan, settings.kills, injected)));
  const shown = setInterval(() => {
    const { operations } = record;
    const open = operations.filter(({ outcome, kind }) => outcome === null && kind !== 'balance').length;
    progress.show(
      `${Math.round((performance.now() - began) / 1_000)} s: ${injection.injected.length} faults, ` +
        `${killsOf(injection.injected)} kills, ${operations.length} operations, ${open} open, ` +
        `${fleet.slots.filter(({ app }) => app !== null).length} of ${fleet.slots.length} processes ready`,
    );
  }, 250);
  async function countedFaults(): Promise<void> {
    await injection.done;
    while (record.operations.length < (plan.minOperations ?? 0)) await sleep(100, undefined, { signal: target.signal });
  }
  const repairLinks = () => {
    for (const link of fleet.links) link.set(UNDISTURBED);
  };
  try {
    const time = planIsOver(plan, injection.injected, signal).then(() => 'over' as const);
    const first = await Promise.race([time, countedFaults()]);
    if (isCounted && first === 'over') throw new Error(`the faults were not done within ${plan.minutes} minutes`);
    over.abort();
    await injection.done;
    repairLinks();
    if (cluster) await untilClusterIsWhole(cluster, WHOLE_WITHIN_MS);
    await fleet.complete(signal);
    await clients?.finish();
    const late = setTimeout(() => quit.abort(), plan.losesAnswers ? LOST_WITHIN_MS : ANSWERS_WITHIN_MS);
    await load.finish();
    clearTimeout(late);
    await everyPollHasEnded(stores, signal);
    if (plan.audits) await everyAuditHasEnded(stores, signal);
  } finally {
    clearInterval(shown);
    quit.abort();
    over.abort();
    // Also after an error: otherwise what is cleaned up next waits in vain for servers behind them.
    repairLinks();
    await Promise.all([load.finish(), clients?.finish()]);
    progress.end();
    await new Promise<void>((resolve) => file.end(() => resolve()));
  }
  const settled = (await promised?.settle(record.operations, fleet.logged, { cluster, replica })) ?? null;
  const history = await readCampaignHistory(stores, observer, {
    operations: record.operations,
    calls: await simulator.calls(),
    faults: injection.injected,
    mayRefuse: plan.mayRefuse ?? [],
    crashes: fleet.crashes,
    pooled: (await watch?.end()) ?? null,
    promised: settled,
    neighbours: beside?.seen ?? null,
    audits: plan.audits ? await readAuditHistory(stores) : null,
    upgrade:
      upgrade && judged && clients
        ? {
            from: upgrade.from.name,
            started: fleet.started,
            answersJudged: judged.count,
            wrongAnswers: judged.wrong,
            clientCalls: clients.made,
            clientFailures: clients.failures,
            schema: await upgrade.differences(stores.databaseUrl),
          }
        : null,
  });
  return { history, fleet, skipped: injection.skipped, tookMs: performance.now() - began };
}

/** Gateways that have read part of an upload. */
function uploadsIn({ operations }: Pick<Recorder, 'operations'>): Set<string> {
  const begun = operations.filter(({ kind, outcome }) => kind === 'batch' && outcome === null);
  const attempts = begun.flatMap(({ attempts }) => attempts);
  const isOpen = ({ isUpload, answered, asked }: Attempt) =>
    isUpload && answered === null && Date.now() - asked > 300 && Date.now() - asked < 1_700;
  return new Set(attempts.filter(isOpen).map(({ gateway }) => gateway));
}

async function openAccount({ storage }: Stores): Promise<CallerAccount> {
  const id = await createFundedAccount(storage);
  const { key } = await insertApiKey(storage, id);
  const login = await insertLogin(storage, { accountId: id });
  return { id, key, cookie: `${LOGIN_COOKIE}=${await sealer([KEY_PEPPER]).seal(login)}` };
}

/** Uses the release's own program, because it may not know all tables of this checkout. */
async function openAccountBy({ openAccount: program }: Release, { databaseUrl }: Stores): Promise<CallerAccount> {
  const said = await runOperator(program, ['10000'], { DATABASE_URL: databaseUrl, KEY_PEPPER });
  const { account_id: id, api_key: key } = JSON.parse(said) as { account_id: string; api_key: string };
  return { id, key, cookie: '' };
}

/** Includes polls whose callers have given up. */
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
