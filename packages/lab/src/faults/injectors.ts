import type { Injector } from './inject-faults.ts';

// Which faults campaigns inject, and how often.

export const PROCESS_INJECTOR: Injector = {
  name: 'processes',
  gapMs: [500, 3_000],
  faults: { 'kill worker': 10, 'kill gateway': 7, 'stop gateway': 0.5, 'term worker': 1, 'term gateway': 1 },
};
export const STOP_INJECTOR: Injector = { name: 'zombies', gapMs: [1_000, 6_000], faults: { 'stop worker': 1 } };
export const STORE_INJECTOR: Injector = {
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
export const REPLICA_INJECTOR: Injector = {
  name: 'replica',
  gapMs: [4_000, 15_000],
  faults: { 'kill standby': 1, 'pause standby': 2 },
};
export const LINK_INJECTOR: Injector = {
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
export const RARE_INJECTORS: readonly Injector[] = [
  rarer(8, PROCESS_INJECTOR),
  rarer(8, STOP_INJECTOR),
  rarer(4, STORE_INJECTOR),
  rarer(8, LINK_INJECTOR),
];

/** One after the other: two of three masters must be up to elect the third's successor. */
const MASTER_INJECTOR: Injector = {
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
const SLOT_INJECTOR: Injector = { name: 'slots', gapMs: [500, 4_000], faults: { 'move slots': 1 } };
/** Rare, so that most waits have one cause. */
const POSTGRES_INJECTOR: Injector = {
  name: 'postgres',
  gapMs: [30_000, 60_000],
  faults: { 'stop postgres at once': 1, 'kill postgres': 1 },
};

export const CLUSTER_INJECTORS: readonly Injector[] = [
  { ...PROCESS_INJECTOR, gapMs: [2_000, 8_000] },
  { ...STOP_INJECTOR, gapMs: [30_000, 60_000] },
  MASTER_INJECTOR,
  SLOT_INJECTOR,
  POSTGRES_INJECTOR,
  { ...LINK_INJECTOR, gapMs: [15_000, 30_000] },
];

/** Divides a number of faults among several injectors. */
export function divideFaults(
  name: string,
  times: number,
  injectors: number,
  injector: Omit<Injector, 'name' | 'times'>,
): Injector[] {
  return Array.from({ length: injectors }, (_, i) => ({
    ...injector,
    name: `${name} ${i}`,
    times: Math.floor((times + i) / injectors),
  }));
}
