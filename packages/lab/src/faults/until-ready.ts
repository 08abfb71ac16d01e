import { setTimeout as sleep } from 'node:timers/promises';
import type { Slot } from './fleet.ts';

const LOOK_EVERY_MS = 50;

/**
 * Resolves when every slot has a ready process. Fails after `withinMs`, with the slots that have none and why the last start
 * failed there.
 */
export async function untilReady(
  slots: readonly Pick<Slot, 'name' | 'app'>[],
  failedStarts: ReadonlyMap<string, string>,
  withinMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const empty = slots.filter(({ app }) => app === null);
    if (empty.length === 0) return;
    if (performance.now() > giveUpAt) {
      const reasons = empty.map(({ name }) => `${name} (${failedStarts.get(name) ?? 'no start has failed'})`);
      throw new Error(`not ready after ${withinMs / 1_000} s: ${reasons.join(', ')}`);
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}
