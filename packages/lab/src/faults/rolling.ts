import type { Fault, FaultKind, Target } from './fault-kinds.ts';
import type { Injection } from './inject-faults.ts';

/** Deploys again and again: a process gets SIGTERM when the successor of the previous one is ready. */
export function rollingRestarts({ fleet, signal }: Target): Injection {
  const injected: Fault[] = [];

  async function roll(): Promise<void> {
    while (!signal.aborted) {
      for (const slot of fleet.slots) {
        if (signal.aborted) return;
        const at = Date.now();
        const { code } = await fleet.end(slot, 'SIGTERM');
        const kind: FaultKind = slot.role === 'worker' ? 'term worker' : 'term gateway';
        const restart = { kind, target: slot.name, at, until: Date.now(), exit: code };
        const place = injected.push(restart) - 1;
        try {
          await fleet.complete(signal);
          injected[place] = { ...restart, replacedAt: Date.now() };
        } catch (error) {
          if (!signal.aborted) throw error;
        }
      }
    }
  }

  const done = roll();
  done.catch(() => undefined);
  return { injected, skipped: new Map(), done };
}
