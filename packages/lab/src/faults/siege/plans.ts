import type { Hand } from './nemesis.ts';
import type { Kind } from './operations.ts';

// Which service is besieged how: what callers do, and what strikes it meanwhile.

export interface Plan {
  readonly title: string;
  readonly callers: Partial<Record<Kind, number>>;
  readonly hands: readonly Hand[];
  /** Callers at once. */
  readonly atOnce: number;
  readonly gentle?: true;
}

const PROCESSES: Hand = {
  name: 'processes',
  gapMs: [500, 3_000],
  blows: { 'kill worker': 10, 'kill gateway': 7, 'stop gateway': 0.5, 'term worker': 1, 'term gateway': 1 },
};
const ZOMBIES: Hand = { name: 'zombies', gapMs: [1_000, 6_000], blows: { 'stop worker': 1 } };
const STORES: Hand = {
  name: 'stores',
  gapMs: [1_500, 7_000],
  blows: {
    flushall: 4,
    'kill redis': 4,
    'kill redis, lose all': 2,
    'stop postgres at once': 3,
    'kill postgres': 3,
    'disk full': 1,
  },
};
const LINKS: Hand = {
  name: 'links',
  gapMs: [200, 3_000],
  blows: {
    'slow link': 2,
    'narrow link': 1,
    'sliced link': 1,
    'dead link': 2,
    'refusing link': 1,
    'reset link': 2,
    'half-open link': 1,
  },
};

export const PLANS = {
  service: {
    title: 'The whole service under fire',
    callers: { sync: 4, async: 4, stream: 4, quick: 1, free: 1, balance: 3 },
    hands: [PROCESSES, ZOMBIES, STORES, LINKS],
    atOnce: 80,
  },
  streams: {
    title: 'Streams while Redis and the network fail',
    callers: { stream: 1 },
    hands: [
      {
        name: 'redis',
        gapMs: [2_000, 8_000],
        blows: { flushall: 3, 'kill redis': 2, 'kill redis, lose all': 1 },
      },
      LINKS,
      { name: 'processes', gapMs: [5_000, 15_000], blows: { 'kill gateway': 2, 'kill worker': 1 } },
    ],
    atOnce: 80,
  },
  keys: {
    title: 'A hundred requests at once with one key, while processes are killed',
    callers: { herd: 1 },
    hands: [{ ...PROCESSES, gapMs: [500, 3_000] }],
    atOnce: 2,
  },
  rolling: {
    title: 'Rolling restarts of every process under load',
    callers: { sync: 3, async: 3, stream: 3, quick: 1, balance: 1 },
    hands: [],
    atOnce: 20,
    gentle: true,
  },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof PLANS;
