import { UNDISTURBED } from '../proxy/link-conditions.ts';
import { type Load, startLoad } from './caller-load.ts';
import type { CallersOptions } from './caller-options.ts';
import type { Target } from './fault-kinds.ts';
import { type FloodPhase, playFloodPhases } from './flood-phases.ts';
import { type Injection, type Injector, injectFaults } from './inject-faults.ts';
import type { Kind } from './operations.ts';
import { startQuietLoad } from './quiet-load.ts';

// Quiet accounts ask polls, while another account sends all it can, and while it sends nothing.

export interface NeighbourHistory {
  /** The account that floods. */
  readonly flooder: string;
  readonly quiet: readonly string[];
  readonly phases: readonly FloodPhase[];
}

interface BesideFlood {
  readonly injection: Injection;
  readonly load: Load;
  readonly seen: NeighbourHistory;
}

interface FloodOptions {
  readonly target: Target;
  readonly injectors: readonly Injector[];
  /** The first account floods; the others are quiet. */
  readonly callers: Omit<CallersOptions, 'chance'>;
  /** What the flooding account does, and how much at once. */
  readonly kinds: Partial<Record<Kind, number>>;
  readonly atOnce: number;
  readonly rounds: number;
  readonly seed: string;
}

export function besideFlood({ target, injectors, callers, kinds, atOnce, rounds, seed }: FloodOptions): BesideFlood {
  const { fleet, signal } = target;
  const [flooder, ...quiet] = callers.accounts;
  const { phases, ...played } = playFloodPhases({
    ...{ rounds, seed, signal },
    startFlood: (own) => startLoad({ ...callers, accounts: [flooder!], flexShare: 0 }, kinds, atOnce, own),
    startQuiet: (own) => startQuietLoad({ ...callers, accounts: quiet }, own),
    inject: (own, over) => injectFaults(injectors, { ...target, signal: over }, own, () => false),
    async repair() {
      for (const link of fleet.links) link.set(UNDISTURBED);
      await fleet.complete(signal).catch((error) => {
        if (!signal.aborted) throw error;
      });
    },
  });
  return { ...played, seen: { flooder: flooder!.id, quiet: quiet.map(({ id }) => id), phases } };
}
