import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { LOGIN_COOKIE, sealer } from '@eloquentpoll/gateway/login-cookie';
import type { RestartableServers } from '@eloquentpoll/services/restartable';
import { createAccount, creditAccount, insertKey, insertLogin } from '@eloquentpoll/storage';
import type { Experiment } from '../../fixture/experiment.ts';
import { startSimulator } from '../../fixture/simulators.ts';
import type { Stores } from '../../fixture/stores.ts';
import { CALM } from '../../proxy/weather.ts';
import type { Progress } from '../../terminal/progress.ts';
import { clockAheadMs, keepJournal } from '../journal.ts';
import { type Blow, PROCESS_KILLS } from './blows.ts';
import type { Account } from './callers.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { readSiege, type SiegeHistory } from './history.ts';
import { startLoad } from './load.ts';
import { unleash } from './nemesis.ts';
import { recorder } from './operations.ts';
import type { Plan } from './plans.ts';
import { rollingRestarts } from './rolling.ts';
import { watchMoneyAndEnds } from './witness.ts';

// The whole product as it runs, with a bad network between all of its parts, callers that persist, and hands that
// strike. At the end everything is mended, every caller gets the time to hear its answer, and the history is judged.

export interface SiegeSettings {
  plan: Plan;
  seed: string;
  minutes: number;
  /** Process kills after which nobody strikes any more. */
  kills: number;
  /** Where every operation is written, one JSON object a line. */
  record: string | null;
}

export interface Siege {
  history: SiegeHistory;
  fleet: Pick<Fleet, 'complaints' | 'startsMs'>;
  missed: ReadonlyMap<string, number>;
  tookMs: number;
}

const PEPPER = 'a pepper of at least 32 characters';
const ANSWERS_WITHIN_MS = 200_000;
const LATENCY_SCALE = 1;
const HERD = 100;
const MANY = '100000000';

const GATEWAY = {
  BASE_URL: 'http://localhost:8080',
  HOST: '127.0.0.1',
  KEY_PEPPER: PEPPER,
  MODELS_FILE: 'simulator',
  FREE_DAILY_CAP_USD: '100000',
  RATE_LIMITS: ['poll', 'free_poll', 'session', 'account'].map((name) => `${name}=${MANY}/60`).join(','),
};
const WORKER = { MODELS_FILE: 'simulator', WORKER_CONCURRENCY: '50', WORKER_DRAIN_MS: '15000' };

export async function besiege(
  bench: Experiment,
  servers: RestartableServers,
  settings: SiegeSettings,
  progress: Progress,
): Promise<Siege> {
  const { stores, group } = bench;
  const { plan, seed } = settings;
  const began = performance.now();
  const aheadMs = await clockAheadMs(stores);
  await keepJournal(stores);
  await watchMoneyAndEnds(stores);
  const simulator = await startSimulator(group, {
    seed,
    latency_scale: LATENCY_SCALE,
    call_log_size: 1_000_000,
  });
  const common = { REDIS_PREFIX: stores.redisPrefix, LOG_LEVEL: 'info' };
  await using fleet = await openFleet({
    group,
    gateways: 2,
    workers: 3,
    databaseUrl: stores.databaseUrl,
    redisUrl: stores.redisUrl,
    modelsUrl: simulator.modelsUrl,
    seed,
    env: { gateway: { ...common, ...GATEWAY }, worker: { ...common, ...WORKER } },
    signal: bench.signal,
  });
  const file = createWriteStream(settings.record ?? join(group.folder, 'operations.jsonl'));
  const record = recorder(file);
  const quit = new AbortController();
  const doors = fleet.slots
    .filter(({ role }) => role === 'gateway')
    .map(({ name, links }) => ({ name, url: `http://127.0.0.1:${links.door!.port}` }));
  const accounts = await Promise.all(Array.from({ length: 4 }, () => openAccount(stores)));
  const load = startLoad(
    { recorder: record, doors, accounts, quit: quit.signal, herd: HERD },
    plan.callers,
    plan.atOnce,
    seed,
  );

  const over = new AbortController();
  const strikeUntil = AbortSignal.any([bench.signal, over.signal]);
  const field = { fleet, servers, stores, signal: strikeUntil };
  const killed = (blows: readonly Blow[]) => blows.filter(({ kind }) => PROCESS_KILLS.includes(kind)).length;
  const nemesis = plan.gentle
    ? rollingRestarts(field)
    : unleash(plan.hands, field, seed, (blows) => killed(blows) >= settings.kills);
  const shown = setInterval(() => {
    const { operations } = record;
    const open = operations.filter(({ outcome, kind }) => outcome === null && kind !== 'balance').length;
    progress.show(
      `${Math.round((performance.now() - began) / 1_000)} s: ${nemesis.landed.length} blows, ` +
        `${killed(nemesis.landed)} kills, ${operations.length} operations, ${open} open, ` +
        `${fleet.slots.filter(({ service }) => service !== null).length} of ${fleet.slots.length} processes ready`,
    );
  }, 250);
  try {
    const time = sleep(settings.minutes * 60_000, undefined, { signal: bench.signal });
    await Promise.race([time, nemesis.done]);
    over.abort();
    await nemesis.done;
    for (const link of fleet.links) link.set(CALM);
    await fleet.complete(bench.signal);
    const late = setTimeout(() => quit.abort(), ANSWERS_WITHIN_MS);
    await load.finish();
    clearTimeout(late);
    await everyPollHasEnded(stores, bench.signal);
  } finally {
    clearInterval(shown);
    quit.abort();
    over.abort();
    await load.finish();
    progress.end();
    await new Promise<void>((resolve) => file.end(() => resolve()));
  }
  const history = await readSiege(stores, aheadMs, {
    operations: record.operations,
    calls: await simulator.calls(),
    blows: nemesis.landed,
    crashes: fleet.crashes,
  });
  return { history, fleet, missed: nemesis.missed, tookMs: performance.now() - began };
}

/** Rich, with a key and a login. */
async function openAccount({ storage }: Stores): Promise<Account> {
  const id = await createAccount(storage);
  await creditAccount(storage, { accountId: id, amountU: 1_000_000_000_000n, source: 'operator', idem: `lab:${id}` });
  const key = newApiKey();
  await insertKey(storage, { accountId: id, hash: hashApiKey(PEPPER, key), prefix: apiKeyPrefix(key) });
  const session = await insertLogin(storage, { accountId: id });
  return { id, key, cookie: `${LOGIN_COOKIE}=${await sealer([PEPPER]).seal(session)}` };
}

/** Also polls that nobody asks about any more have to end. */
async function everyPollHasEnded({ query }: Stores, signal: AbortSignal): Promise<void> {
  const until = performance.now() + ANSWERS_WITHIN_MS;
  while (performance.now() < until) {
    const [row] = await query<{ running: number }>(
      `select (count(*))::integer as running from polls where status = 'running'`,
    );
    if (row!.running === 0) return;
    await sleep(250, undefined, { signal });
  }
}
