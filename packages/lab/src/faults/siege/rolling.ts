import type { Blow, BlowKind, Field } from './blows.ts';
import type { Nemesis } from './nemesis.ts';

// What a careful operator does: one process after the other is asked to leave, and the next one only when its successor
// is ready. Round after round, as long as the experiment lasts.

export function rollingRestarts({ fleet, signal }: Field): Nemesis {
  const landed: Blow[] = [];

  async function roll(): Promise<void> {
    while (!signal.aborted) {
      for (const slot of fleet.slots) {
        if (signal.aborted) return;
        const at = Date.now();
        const { code } = await fleet.end(slot, 'SIGTERM');
        const kind: BlowKind = slot.role === 'worker' ? 'term worker' : 'term gateway';
        landed.push({ kind, target: slot.name, at, until: Date.now(), exit: code });
        await fleet.complete(signal).catch(() => undefined);
      }
    }
  }

  const done = roll();
  done.catch(() => undefined);
  return { landed, missed: new Map(), done };
}
