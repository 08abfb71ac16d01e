import { setTimeout as sleep } from 'node:timers/promises';
import { sleepUnlessAborted } from '../../fixture/sleep-unless-aborted.ts';
import { type Chance, chance } from '../../terminal/chance.ts';
import type { Fault, Target } from '../fault-kinds.ts';
import type { Slot } from '../fleet.ts';
import { type Injection, injectFaults } from '../inject-faults.ts';
import type { Release } from './release.ts';
import type { Upgrade } from './upgrade.ts';

// An upgrade under load, which is rolled back and repeated: first the older release alone, then with the new schema.
// Then processes are replaced by the newer release one by one, in random order, and back again. So both releases serve
// side by side, while workers are killed.

const ALONE_MS = 6_000;
/** The pause after each replaced process, in which both releases serve. */
const MIXED_MS = [500, 3_000] as const;
const COMPLETE_MS = 60_000;
const KILLS = { name: 'kills', gapMs: [4_000, 9_000], faults: { 'kill worker': 1 } } as const;

export function rollReleases(target: Target, { from, to, migrate }: Upgrade, seed: string): Injection {
  const { fleet, stores, signal } = target;
  const rolled: Fault[] = [];
  const kills = injectFaults([KILLS], target, seed, () => false);
  const draw = chance(`${seed}|releases`);

  async function step(kind: 'migrate' | 'roll forward' | 'roll back', work: () => Promise<void>): Promise<void> {
    const at = Date.now();
    await work();
    rolled.push({ kind, target: kind === 'migrate' ? 'postgres' : 'all', at, until: Date.now() });
  }

  async function roll(release: Release): Promise<void> {
    for (const slot of inAnyOrder(fleet.slots, draw)) {
      await replace(slot, release);
      await sleepUnlessAborted(draw.whole(...MIXED_MS), signal);
    }
  }

  /** Lets the process drain and starts the release in its place, once no kill is being repaired. */
  async function replace(slot: Slot, release: Release): Promise<void> {
    for (const giveUpAt = performance.now() + COMPLETE_MS; slot.isFaulted || !slot.app; await sleep(50))
      if (performance.now() > giveUpAt) throw new Error(`${slot.name} got no process within ${COMPLETE_MS / 1_000} s`);
    slot.isFaulted = true;
    slot.release = release;
    const at = Date.now();
    const { code } = await fleet.end(slot, 'SIGTERM');
    const kind = slot.role === 'worker' ? 'term worker' : 'term gateway';
    rolled.push({ kind, target: slot.name, at, until: Date.now(), exit: code });
    slot.isFaulted = false;
    await fleet.complete(undefined, COMPLETE_MS);
  }

  async function all(): Promise<void> {
    await sleepUnlessAborted(ALONE_MS, signal);
    await step('migrate', () => migrate(stores.databaseUrl));
    await sleepUnlessAborted(ALONE_MS, signal);
    for (;;) {
      await step('roll forward', () => roll(to));
      await sleepUnlessAborted(ALONE_MS, signal);
      if (signal.aborted) return;
      await step('roll back', () => roll(from));
      await sleepUnlessAborted(ALONE_MS, signal);
    }
  }

  const done = Promise.all([all(), kills.done]).then(() => undefined);
  done.catch(() => undefined);
  return {
    get injected() {
      return [...rolled, ...kills.injected];
    },
    skipped: kills.skipped,
    done,
  };
}

function inAnyOrder(slots: readonly Slot[], draw: Chance): Slot[] {
  const left = [...slots];
  return slots.map(() => left.splice(draw.whole(0, left.length - 1), 1)[0]!);
}
