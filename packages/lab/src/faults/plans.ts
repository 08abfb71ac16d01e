import type { Injector } from './inject-faults.ts';
import type { Kind } from './operations.ts';
import { rollingRules } from './rules/rolling-rules.ts';
import type { CampaignRule } from './rules/rule.ts';
import { workerRules } from './rules/worker-rules.ts';

// What callers do in a campaign, which faults are injected meanwhile, and what must hold besides the rules of all.

export interface Plan {
  readonly title: string;
  /** Weights. */
  readonly callers: Partial<Record<Kind, number>>;
  /** Callers at once. */
  readonly atOnce: number;
  /** `restarts`: every process is restarted in good order, over and over. */
  readonly faults: readonly Injector[] | 'restarts';
  readonly rules: readonly CampaignRule[];
  readonly workers: number;
  readonly minutes: number;
  /** The campaign ends early once so many operations were begun and every injector is done. */
  readonly minOperations?: number;
}

export interface Sizes {
  readonly minutes: number;
  readonly kills: number;
  readonly stops: number;
  readonly polls: number;
  readonly inFlight: number;
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

const WORKERS = 3;

export const PLANS = {
  service: ({ minutes }) => ({
    title: 'The whole service under faults',
    callers: { sync: 4, async: 4, cancel: 1, stream: 4, quick: 1, free: 1, balance: 3, batch: 0.3 },
    atOnce: 80,
    faults: [PROCESSES, ZOMBIES, STORES, LINKS],
    rules: [],
    workers: WORKERS,
    minutes,
  }),
  streams: ({ minutes }) => ({
    title: 'Streams while Redis and the network fail',
    callers: { stream: 1 },
    atOnce: 80,
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
    faults: [PROCESSES, { name: 'redis', gapMs: [3_000, 9_000], faults: { flushall: 3, 'kill redis, lose all': 1 } }],
    rules: [],
    workers: WORKERS,
    minutes,
  }),
  keys: ({ minutes }) => ({
    title: 'A hundred requests at once with one key, while processes are killed',
    callers: { herd: 1 },
    atOnce: 2,
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
  workers: ({ kills, stops, polls, inFlight, workers }) => {
    const killers = share('kills', kills, Math.ceil(workers / 6), {
      gapMs: [1_000, 5_000],
      faults: { 'kill worker': 1 },
    });
    // Most of the workers run at any time; a stop is longer than a lease.
    const stoppers = share('stops', stops, Math.ceil(workers / 3), {
      gapMs: [200, 2_000],
      faults: { 'stop worker': 1 },
    });
    return {
      title: 'Workers killed and stopped under load',
      callers: { sync: 1, async: 1 },
      atOnce: inFlight,
      faults: [...killers, ...stoppers],
      rules: workerRules,
      workers,
      // Twice of what they take when nothing waits, and five minutes.
      minutes: 5 + (2 * Math.max((kills * 3) / killers.length, (stops * 12.6) / stoppers.length)) / 60,
      minOperations: polls,
    };
  },
} as const satisfies Record<string, (sizes: Sizes) => Plan>;

export type PlanName = keyof typeof PLANS;

/** So many faults by so many injectors. */
function share(name: string, times: number, injectors: number, injector: Omit<Injector, 'name' | 'times'>): Injector[] {
  return Array.from({ length: injectors }, (_, i) => ({
    ...injector,
    name: `${name} ${i}`,
    times: Math.floor((times + i) / injectors),
  }));
}
