import { setTimeout as sleep } from 'node:timers/promises';
import { balanceOf, checkLedger, FREE_POOL } from '@eloquentpoll/storage';
import type { Experiment } from '../fixture/experiment.ts';
import { startModule } from '../fixture/modules.ts';
import { startSimulator } from '../fixture/simulators.ts';
import type { Progress } from '../terminal/progress.ts';

// Everybody asks for a free poll at once: every request from an address of its own, behind a proxy that the gateways
// trust, and with rate limits that stop nobody. What is left is the day's cap, which the database keeps.

export interface FloodOptions {
  addresses: number;
  atOnce: number;
  capUsd: string;
}

export interface FloodReport {
  addresses: number;
  seconds: number;
  statuses: Record<string, number>;
  polls: number;
  cap_u: number;
  spent_u: number;
  held_u: number;
  /** The most that was spent and held at one moment. */
  most_at_stake_u: number;
  /** The sum of what the stored votes were billed. */
  billed_u: number;
  ledger_violations: number;
}

const GATEWAYS = 2;
const LOOK_EVERY_MS = 20;

export async function floodWithFreePolls(
  bench: Experiment,
  { addresses, atOnce, capUsd }: FloodOptions,
  progress: Progress,
): Promise<FloodReport> {
  const { stores, signal } = bench;
  const urls = await startService(bench, capUsd);
  const statuses: Record<string, number> = {};
  let mostU = 0n;
  let over = false;

  const watching = (async () => {
    while (!over) {
      const { usageU, heldU } = (await balanceOf(stores.storage, FREE_POOL))!;
      if (usageU + heldU > mostU) mostU = usageU + heldU;
      await sleep(LOOK_EVERY_MS);
    }
  })();

  const started = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (next < addresses) {
        signal.throwIfAborted();
        const n = next++;
        const status = await ask(urls[n % urls.length]!, n, signal);
        statuses[status] = (statuses[status] ?? 0) + 1;
        progress.show(`${next} of ${addresses} addresses have asked`);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  over = true;
  await watching;
  progress.end();

  const pool = (await balanceOf(stores.storage, FREE_POOL))!;
  const [stored] = await stores.query<{ polls: number; billed: number; cap: number }>(`
    select (select count(*)::int from polls) as polls,
           (select coalesce(sum(billed_u), 0)::int from votes) as billed,
           (select coalesce(sum(amount_u), 0)::int from transfers where kind = 'top_up') as cap`);
  return {
    addresses,
    seconds: Math.round(seconds * 10) / 10,
    statuses,
    polls: stored!.polls,
    cap_u: stored!.cap,
    spent_u: Number(pool.usageU),
    held_u: Number(pool.heldU),
    most_at_stake_u: Number(mostU),
    billed_u: stored!.billed,
    ledger_violations: (await checkLedger(stores.storage)).length,
  };
}

async function startService({ group, stores }: Experiment, capUsd: string): Promise<string[]> {
  const { modelsUrl } = await startSimulator(group, { latency_scale: 0 });
  const env = {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: modelsUrl,
  };
  await startModule(group, 'worker', '@eloquentpoll/worker/main', { ...env, WORKER_CONCURRENCY: '50' });
  const gateways = Array.from({ length: GATEWAYS }, (_, n) =>
    startModule(group, `gateway ${n + 1}`, '@eloquentpoll/gateway/main', {
      ...env,
      PORT: '0',
      BASE_URL: 'http://localhost',
      KEY_PEPPER: 'nobody has a key in this experiment',
      LOG_LEVEL: 'warn',
      TRUST_PROXY: '127.0.0.0/8',
      FREE_DAILY_CAP_USD: capUsd,
      RATE_LIMITS: 'free_poll=100000000/3600',
    }),
  );
  return (await Promise.all(gateways)).map(({ ready }) => `http://${ready.address}:${ready.port}/api/quick-poll`);
}

async function ask(url: string, n: number, signal: AbortSignal): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': addressOf(n) },
    body: JSON.stringify({ poll: `Which of these is best, asked for the ${n}th time? [this one, that one]` }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Addresses that belong to nobody (198.18.0.0/15), a different one for each number. */
const addressOf = (n: number): string => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`;

/** Whether the cap held to the micro-USD, and everybody was either served or told to come back. */
export function floodHolds(report: FloodReport): boolean {
  const { '200': served = 0, '429': refused = 0 } = report.statuses;
  return (
    served > 0 &&
    served + refused === report.addresses &&
    served === report.polls &&
    report.spent_u === report.billed_u &&
    report.held_u === 0 &&
    Math.max(report.spent_u, report.most_at_stake_u) <= report.cap_u &&
    report.ledger_violations === 0
  );
}
