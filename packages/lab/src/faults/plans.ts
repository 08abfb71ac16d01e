import { AUDITED_ENV } from './audited.ts';
import type { Fault, InjectedKind } from './fault-kinds.ts';
import {
  CLUSTER_INJECTORS,
  divideFaults,
  LINK_INJECTOR,
  PROCESS_INJECTOR,
  RARE_INJECTORS,
  REPLICA_INJECTOR,
  STOP_INJECTOR,
  STORE_INJECTOR,
} from './injectors.ts';
import type { Plan, Sizes } from './plan.ts';
import { BUDGET_REACHED } from './request.ts';
import { auditRules } from './rules/audit-rules.ts';
import { clusterRules } from './rules/cluster-rules.ts';
import { failoverRules, lossRules } from './rules/failover-rules.ts';
import { neighbourRules } from './rules/neighbour-rules.ts';
import { poolerRules } from './rules/pooler-rules.ts';
import { promisedRules } from './rules/promised-rules.ts';
import { releaseRules } from './rules/release-rules.ts';
import { rollingRules } from './rules/rolling-rules.ts';
import { spendRules } from './rules/spend-rules.ts';
import { workerRules } from './rules/worker-rules.ts';

// The campaigns, by name.

const PROMISED_CALLERS: Plan['callers'] = {
  sync: 1,
  async: 4,
  cancel: 3,
  limited: 3,
  forget: 2,
  leave: 0.5,
  stream: 1,
  quick: 1,
  balance: 1,
  batch: 0.3,
};

const WORKERS = 3;

const AUDITED = {
  // Few enough that workers are idle at times: only then are polls audited.
  callers: { sync: 3, async: 3, cancel: 1, stream: 2, quick: 1 },
  atOnce: 16,
  rules: auditRules,
  workers: WORKERS,
  spares: 1,
  audits: true,
  env: AUDITED_ENV,
} as const satisfies Partial<Plan>;

/**
 * Slots of a worker, and polls that a key may have running: what is left of a flood soon ends. Quiet accounts alone need less
 * than half of the slots, so that they have a right to be served at once.
 */
const FLOOD = { slots: 16, running: 120 } as const;
const wasInjected =
  (kind: InjectedKind) =>
  (faults: readonly Fault[]): boolean =>
    faults.some((fault) => fault.kind === kind);
/** About what sixteen polls reserve, so that the ceiling is reached again and again. */
const SPEND_HOUR_U = 1_000_000;

export const PLANS = {
  service: ({ minutes }) => ({
    title: 'The whole service under faults',
    callers: { sync: 4, async: 4, cancel: 1, stream: 4, quick: 1, free: 1, balance: 3, batch: 0.3 },
    atOnce: 80,
    faults: [PROCESS_INJECTOR, STOP_INJECTOR, STORE_INJECTOR, LINK_INJECTOR],
    rules: [],
    workers: WORKERS,
    spares: 1,
    minutes,
  }),
  cluster: ({ minutes }) => ({
    title: 'The whole service on a Redis cluster under faults',
    callers: { sync: 4, async: 4, cancel: 1, stream: 4, quick: 1, free: 1, balance: 3, batch: 0.3 },
    atOnce: 60,
    faults: CLUSTER_INJECTORS,
    isShown: (faults) => faults.some(({ awayMs }) => awayMs !== undefined),
    rules: clusterRules,
    workers: WORKERS,
    spares: 1,
    minutes,
    isOnCluster: true,
  }),
  promises: ({ minutes }) => ({
    title: 'Webhooks, receipts, limits of keys, cancellations and deletions while everything fails',
    callers: PROMISED_CALLERS,
    atOnce: 24,
    faults: [PROCESS_INJECTOR, STOP_INJECTOR, STORE_INJECTOR, LINK_INJECTOR, REPLICA_INJECTOR],
    rules: promisedRules,
    mayRefuse: ['key_budget_reached'],
    workers: WORKERS,
    spares: 1,
    minutes,
    promises: true,
    hasReplica: true,
    isShown: wasInjected('pause standby'),
  }),
  'promises-cluster': ({ minutes }) => ({
    title: 'The same on a Redis cluster whose masters fail over',
    callers: PROMISED_CALLERS,
    atOnce: 24,
    faults: CLUSTER_INJECTORS,
    rules: promisedRules,
    mayRefuse: ['key_budget_reached'],
    workers: WORKERS,
    spares: 1,
    minutes,
    promises: true,
    isOnCluster: true,
  }),
  audits: ({ minutes }) => ({
    ...AUDITED,
    title: 'Audits while everything fails',
    faults: [PROCESS_INJECTOR, STOP_INJECTOR, STORE_INJECTOR, LINK_INJECTOR],
    minutes,
  }),
  'audits-cluster': ({ minutes }) => ({
    ...AUDITED,
    title: 'The same on a Redis cluster whose masters fail over',
    faults: CLUSTER_INJECTORS,
    minutes,
    isOnCluster: true,
  }),
  spend: ({ minutes }) => ({
    title: 'Providers charge up to the ceiling while everything fails',
    callers: { sync: 2, async: 4, cancel: 1, stream: 1, free: 1 },
    atOnce: 24,
    faults: [PROCESS_INJECTOR, STOP_INJECTOR, STORE_INJECTOR, LINK_INJECTOR],
    rules: spendRules(SPEND_HOUR_U),
    // At the ceiling a flex poll waits for the next hour; other polls are refused.
    flexShare: 0,
    mayRefuse: [BUDGET_REACHED],
    workers: WORKERS,
    spares: 1,
    minutes,
    env: { PROVIDER_SPEND_HOUR_USD: String(SPEND_HOUR_U / 1_000_000), CANARIES_PER_DAY: '0' },
  }),
  neighbours: ({ minutes }) => ({
    title: 'Quiet accounts beside one that floods while everything fails',
    callers: { sync: 100, async: 100, batch: 1 },
    // More than its key may have running.
    atOnce: FLOOD.running + 20,
    faults: RARE_INJECTORS,
    rules: neighbourRules,
    workers: WORKERS,
    spares: 1,
    // The limit for all rounds. Each takes a little more than a minute on an idle machine.
    minutes: 5 + 3 * minutes,
    beside: { quiet: 6, rounds: Math.max(1, Math.round(minutes)) },
    // Few slots and slow models: the queue is long before the machine is busy.
    latencyScale: 4,
    env: { WORKER_CONCURRENCY: String(FLOOD.slots), MAX_RUNNING_POLLS_PER_KEY: String(FLOOD.running) },
  }),
  streams: ({ minutes }) => ({
    title: 'Streams while Redis and the network fail',
    callers: { stream: 1 },
    atOnce: 120,
    faults: [
      { name: 'redis', gapMs: [2_000, 8_000], faults: { flushall: 3, 'kill redis': 2, 'kill redis, lose all': 1 } },
      LINK_INJECTOR,
      { name: 'processes', gapMs: [5_000, 15_000], faults: { 'kill gateway': 2, 'kill worker': 1 } },
    ],
    rules: [],
    workers: WORKERS,
    minutes,
  }),
  batches: ({ minutes }) => ({
    title: 'Batches and cancellations while processes are killed and Redis loses everything',
    callers: { batch: 3, cancel: 2, sync: 1 },
    atOnce: 16,
    faults: [
      PROCESS_INJECTOR,
      { name: 'uploads', gapMs: [400, 1_500], faults: { 'kill gateway during an upload': 1 } },
      { name: 'redis', gapMs: [3_000, 9_000], faults: { flushall: 3, 'kill redis, lose all': 1 } },
    ],
    isShown: wasInjected('kill gateway during an upload'),
    rules: [],
    workers: WORKERS,
    spares: 1,
    minutes,
  }),
  pooler: ({ minutes }) => ({
    title: 'A pooler before Postgres while it, Postgres and processes are killed',
    callers: { sync: 3, async: 3, cancel: 1, stream: 2, quick: 1, free: 1, balance: 2, batch: 0.5 },
    atOnce: 40,
    faults: [
      { name: 'pooler', gapMs: [1_500, 6_000], faults: { 'kill pooler': 4, 'kill postgres': 1 } },
      { name: 'processes', gapMs: [2_000, 8_000], faults: { 'kill worker': 1, 'kill gateway': 1 } },
    ],
    isShown: wasInjected('kill pooler'),
    rules: poolerRules,
    workers: WORKERS,
    minutes,
    pooled: 30,
  }),
  failover: ({ minutes }) => ({
    title: 'The primary is killed under load and its synchronous standby promoted',
    callers: { sync: 4, async: 4, cancel: 1, stream: 2, quick: 1, free: 1, balance: 2, batch: 0.3 },
    atOnce: 40,
    faults: [
      { name: 'primary', gapMs: [3_000, 4_000], faults: { 'fail over': 1 }, times: 1 },
      { name: 'processes', gapMs: [3_000, 9_000], faults: { 'kill worker': 2, 'kill gateway': 1 } },
    ],
    rules: failoverRules,
    workers: WORKERS,
    minutes,
    standby: 'synchronous',
  }),
  'failover-async': ({ minutes }) => ({
    title: 'The same for a standby that commits do not wait for, and that lags: acknowledged polls are lost',
    callers: { sync: 4, async: 4, quick: 1 },
    atOnce: 40,
    faults: [{ name: 'primary', gapMs: [3_000, 4_000], faults: { 'fail over': 1 }, times: 1 }],
    rules: lossRules,
    losesAnswers: true,
    workers: WORKERS,
    minutes,
    standby: 'asynchronous',
  }),
  keys: ({ minutes }) => ({
    title: 'A hundred requests at once with one key, while processes are killed',
    callers: { herd: 1 },
    // Few, because a herd mostly waits for gateways to restart, and each kill hits every herd.
    atOnce: 6,
    faults: [PROCESS_INJECTOR],
    rules: [],
    workers: WORKERS,
    minutes,
  }),
  rolling: ({ minutes }) => ({
    title: 'Rolling restarts of every process under load',
    callers: { sync: 3, async: 3, stream: 3, quick: 1, balance: 1 },
    atOnce: 20,
    faults: 'restarts',
    rules: rollingRules,
    workers: WORKERS,
    minutes,
  }),
  releases: ({ minutes }) => ({
    title: 'An upgrade from an older release, taken back and done again under load',
    callers: { sync: 3, async: 3, cancel: 1, stream: 3, quick: 1, free: 1, batch: 0.2 },
    atOnce: 16,
    faults: 'releases',
    rules: releaseRules,
    workers: WORKERS,
    minutes,
  }),
  workers: ({ kills, stops, polls, workers }) => {
    const killers = divideFaults('kills', kills, Math.ceil(workers / 6), {
      gapMs: [1_000, 5_000],
      faults: { 'kill worker': 1 },
    });
    // Most workers run at any time; a stop is longer than a lease.
    const stoppers = divideFaults('stops', stops, Math.ceil(workers / 3), {
      gapMs: [200, 2_000],
      faults: { 'stop worker': 1 },
    });
    return {
      title: 'Workers killed and stopped under load',
      callers: { sync: 1, async: 1 },
      atOnce: 40,
      faults: [...killers, ...stoppers],
      rules: workerRules,
      workers,
      // Twice the time that the faults take without waiting, plus five minutes.
      minutes: 5 + (2 * Math.max((kills * 3) / killers.length, (stops * 12.6) / stoppers.length)) / 60,
      minOperations: polls,
    };
  },
} as const satisfies Record<string, (sizes: Sizes) => Plan>;

export type PlanName = keyof typeof PLANS;
