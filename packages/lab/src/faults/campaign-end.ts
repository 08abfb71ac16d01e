import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault-kinds.ts';
import { isProcessKill } from './fault-traits.ts';
import type { Plan } from './plan.ts';

// On a busy machine everything takes longer, so a short campaign could end before its own fault has found a target.

export const killsOf = (faults: readonly Fault[]): number => faults.filter(({ kind }) => isProcessKill(kind)).length;

/** A plan that counts its own faults ignores the number of kills. */
export function isEnough(
  { minOperations, isShown = () => true }: Pick<Plan, 'minOperations' | 'isShown'>,
  kills: number,
  faults: readonly Fault[],
): boolean {
  return minOperations === undefined && killsOf(faults) >= kills && isShown(faults);
}

const SHOWN_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 100;

/** Resolves after `minutes`, or later if the plan's faults have not been shown by then; it gives up after a limit. */
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
