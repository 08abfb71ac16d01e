import { setTimeout as sleep } from 'node:timers/promises';
import { type Fault, PROCESS_KILLS } from './fault-kinds.ts';
import type { Plan } from './plans.ts';

// A short campaign may be over before the fault that it is about has found a target: on a busy machine everything comes later.

export const killsOf = (faults: readonly Fault[]): number =>
  faults.filter(({ kind }) => PROCESS_KILLS.includes(kind)).length;

/** A plan that counts its own faults takes no notice of kills. */
export function isEnough(
  { minOperations, isShown = () => true }: Pick<Plan, 'minOperations' | 'isShown'>,
  kills: number,
  faults: readonly Fault[],
): boolean {
  return minOperations === undefined && killsOf(faults) >= kills && isShown(faults);
}

const SHOWN_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;

/** Resolves after so many minutes, later where the plan has not yet shown what it is about, and gives up then. */
export async function planIsOver(
  { minutes, isShown = () => true }: Pick<Plan, 'minutes' | 'isShown'>,
  faults: readonly Fault[],
  signal: AbortSignal,
  shownWithinMs = SHOWN_WITHIN_MS,
): Promise<void> {
  await sleep(minutes * 60_000, undefined, { signal });
  const giveUpAt = performance.now() + shownWithinMs;
  while (!isShown(faults) && performance.now() < giveUpAt) await sleep(LOOK_EVERY_MS, undefined, { signal });
}
