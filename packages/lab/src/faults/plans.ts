import { AUDITED_ENV } from './audited.ts';
import type { Commits } from './failover.ts';
import type { Fault, InjectedKind } from './fault-kinds.ts';
import type { Injector } from './inject-faults.ts';
import type { Kind } from './operations.ts';
import { BUDGET_REACHED } from './request.ts';
import { auditRules } from './rules/audit-rules.ts';
import { clusterRules } from './rules/cluster-rules.ts';
import { failoverRules, lossRules } from './rules/failover-rules.ts';
import { neighbourRules } from './rules/neighbour-rules.ts';
import { poolerRules } from './rules/pooler-rules.ts';
import { promisedRules } from './rules/promised-rules.ts';
import { releaseRules } from './rules/release-rules.ts';
import { rollingRules } from './rules/rolling-rules.ts';
import type { CampaignRule } from './rules/rule.ts';
import { spendRules } from './rules/spend-rules.ts';
import { workerRules } from './rules/worker-rules.ts';

// What callers do in a campaign, which faults are injected, and which rules apply in addition to the common ones.

export interface Plan {
  readonly title: string;
  /** Relative frequencies. */
  readonly callers: Partial<Record<Kind, number>>;
  /** Number of simultaneous callers. */
  readonly atOnce: number;
  /**
   * `restarts`: every process is restarted gracefully, again and again. `releases`: each time with the other release.
   */
  readonly faults: readonly Injector[] | 'restarts' | 'releases';
  readonly rules: readonly CampaignRule[];
  /** Error codes that the plan provokes on purpose. */
  readonly mayRefuse?: readonly string[];
  /** Only the plan's own rules apply: it shows that acknowledged answers are lost, which the common rules forbid. */
  readonly losesAnswers?: boolean;
  readonly workers: number;
  /** Workers that no fault kills, so that the time until a takeover can be measured. */
  readonly spares?: number;
  readonly minutes: number;
  /** Processes reach Postgres through a pooler with so many connections each. */
  readonly pooled?: number;
  readonly flexShare?: number;
  /** Redis is a cluster of three masters and three replicas. */
  readonly isOnCluster?: boolean;
  /** Postgres has a standby; commits wait for it or not. */
  readonly standby?: Commits;
  /** Gateways read lists and exports from a replica of Postgres. */
  readonly hasReplica?: boolean;
  /** Webhooks, receipts, key limits and deletions are checked. */
  readonly promises?: boolean;
  /** Audits are made, waited for and checked. */
  readonly audits?: boolean;
  /**
   * The callers are one account, which floods in one phase of each round. So many quiet accounts ask polls in both. The
   * campaign ends after the rounds.
   */
  readonly beside?: { readonly quiet: number; readonly rounds: number };
  /** How much longer models take than usual. */
  readonly latencyScale?: number;
  /** Environment of gateways and workers. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the plan's own faults were injected; the campaign continues until then. */
  readonly isShown?: (faults: readonly Fault[]) => boolean;
  /** The campaign ends early after so many operations, if every injector is done. */
  readonly minOperations?: number;
}

export interface Sizes {
  readonly minutes: number;
  readonly kills: number;
  readonly stops: number;
  readonly polls: number;
  readonly workers: number;
}

const PROCESSES: Injector = {
  name: 'processes',
  gapMs: [500, 3_000],
  faults: { 'kill worker': 10, 'kill gateway': 7, 'stop gateway': 0.5, 'term worker': 1, 'term gateway': 1 },
};
const ZOMBIES: Injector = { name: 'zombies', gapMs: [1_000, 6_000], faults: { 'stop worker': 1 } };
const STORES: Injector = {
  name: 'stores',
  gapMs: [1_500, 7_000],
  faults: {
    flushall: 4,
    'kill redis': 4,
    'kill redis, lose all': 2,
    'stop postgres at once': 3,
    'kill postgres': 3,
    'disk full': 1,
  },
};
const REPLICA: Injector = {
  name: 'replica',
  gapMs: [4_000, 15_000],
  faults: { 'kill standby': 1, 'pause standby': 2 },
};
const LINKS: Injector = {
  name: 'links',
  gapMs: [200, 3_000],
  faults: {
    'slow link': 2,
    'narrow link': 1,
    'sliced link': 1,
    'dead link': 2,
    'refusing link': 1,
    'reset link': 2,
    'half-open link': 1,
  },
};

const rarer = (times: number, injector: Injector): Injector => ({
  ...injector,
  gapMs: [times * injector.gapMs[0], times * injector.gapMs[1]],
});
/**
 * The faults of `service`, but only about five in 25 s. Twice as many made the median poll three times as long as one that
 * met no fault: it said how long a fault lasts, and nothing of a queue.
 */
const RARER: readonly Injector[] = [rarer(8, PROCESSES), rarer(8, ZOMBIES), rarer(4, STORES), rarer(8, LINKS)];

/** One after the other: two of three masters must be up to elect the third's successor. */
const MASTERS: Injector = {
  name: 'masters',
  gapMs: [2_000, 8_000],
  faults: {
    'kill master': 4,
    'stop master': 2,
    'isolate master': 2,
    'master without clients': 2,
    'kill replica': 1,
    'kill master, lose all': 1,
    'full master': 1,
    'flush masters': 1,
  },
};
const SLOTS: Injector = { name: 'slots', gapMs: [500, 4_000], faults: { 'move slots': 1 } };
/** Rare, so that most waits have one cause. */
const POSTGRES: Injector = {
  name: 'postgres',
  gapMs: [30_000, 60_000],
  faults: { 'stop postgres at once': 1, 'kill postgres': 1 },
};

const CLUSTER_INJECTORS: readonly Injector[] = [
  { ...PROCESSES, gapMs: [2_000, 8_000] },
  { ...ZOMBIES, gapMs: [30_000, 60_000] },
  MASTERS,
  SLOTS,
  POSTGRES,
  { ...LINKS, gapMs: [15_000, 30_000] },
];

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
    faults: [PROCESSES, ZOMBIES, STORES, LINKS],
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
    faults: [PROCESSES, ZOMBIES, STORES, LINKS, REPLICA],
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
    faults: [PROCESSES, ZOMBIES, STORES, LINKS],
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
    faults: [PROCESSES, ZOMBIES, STORES, LINKS],
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
    faults: RARER,
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
      LINKS,
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
      PROCESSES,
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
    faults: [PROCESSES],
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
    const killers = share('kills', kills, Math.ceil(workers / 6), {
      gapMs: [1_000, 5_000],
      faults: { 'kill worker': 1 },
    });
    // Most workers run at any time; a stop is longer than a lease.
    const stoppers = share('stops', stops, Math.ceil(workers / 3), {
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

/** Divides a number of faults among several injectors. */
function share(name: string, times: number, injectors: number, injector: Omit<Injector, 'name' | 'times'>): Injector[] {
  return Array.from({ length: injectors }, (_, i) => ({
    ...injector,
    name: `${name} ${i}`,
    times: Math.floor((times + i) / injectors),
  }));
}
