import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import { UNDISTURBED } from '../proxy/link-conditions.ts';
import { type Load, startLoad } from './caller-load.ts';
import type { CallersOptions } from './caller-options.ts';
import type { Fault, Target } from './fault-kinds.ts';
import { type Injection, type Injector, injectFaults } from './inject-faults.ts';
import type { Kind } from './operations.ts';
import { startQuietLoad } from './quiet-load.ts';

// Quiet accounts ask polls in two kinds of phases: one in which another account sends all it can, and one in which it sends
// nothing. Both phases of a round are equally long and draw the same polls and the same faults at the same moments. Whatever
// slows polls in one of them besides the flood also does in the other, so no poll has to be left out of the comparison.

/** When quiet accounts asked polls. */
interface NeighbourPhase {
  readonly isFlooded: boolean;
  readonly from: number;
  readonly until: number;
}

export interface NeighbourHistory {
  /** The account that floods. */
  readonly flooder: string;
  readonly quiet: readonly string[];
  readonly phases: readonly NeighbourPhase[];
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

const PHASE_MS = 25_000;
/** Until the queue is full of the flood. */
const SETTLE_MS = 3_000;

export function besideFlood({ target, injectors, rounds, seed, ...options }: FloodOptions): BesideFlood {
  const { fleet, signal } = target;
  const [flooder, ...quiet] = options.callers.accounts;
  const injected: Fault[] = [];
  const skipped = new Map<string, number>();
  const phases: NeighbourPhase[] = [];
  const loads: Load[] = [];
  const isOver = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const pause = (ms: number) => sleepUnlessAborted(ms, signal);
  const started = (load: Load): Load => {
    loads.push(load);
    return load;
  };

  async function phase(round: string, isFlooded: boolean): Promise<void> {
    const flood = { ...options.callers, accounts: [flooder!], flexShare: 0 };
    const sent = isFlooded ? [started(startLoad(flood, options.kinds, options.atOnce, `${round}|flood`))] : [];
    await pause(SETTLE_MS);
    const from = Date.now();
    const asked = started(startQuietLoad({ ...options.callers, accounts: quiet }, round));
    const over = new AbortController();
    const struck = { ...target, signal: AbortSignal.any([signal, over.signal]) };
    const faults = injectFaults(injectors, struck, round, () => false);
    await pause(PHASE_MS);
    const until = Date.now();
    const answered = [asked, ...sent].map((load) => load.finish());
    over.abort();
    await faults.done;
    injected.push(...faults.injected);
    for (const [kind, times] of faults.skipped) skipped.set(kind, (skipped.get(kind) ?? 0) + times);
    for (const link of fleet.links) link.set(UNDISTURBED);
    if (!signal.aborted) phases.push({ isFlooded, from, until });
    // The next phase begins with a whole service, and without a poll of this one.
    await fleet.complete(signal).catch(() => undefined);
    await Promise.race([Promise.all(answered), isOver]);
  }

  async function run(): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const isFirstFlooded = round % 2 === 0;
      for (const isFlooded of [isFirstFlooded, !isFirstFlooded])
        if (!signal.aborted) await phase(`${seed}|round ${round}`, isFlooded);
    }
  }

  const done = run();
  done.catch(() => undefined);
  return {
    injection: { injected, skipped, done },
    load: {
      async finish() {
        await Promise.all(loads.map((load) => load.finish()));
      },
    },
    seen: { flooder: flooder!.id, quiet: quiet.map(({ id }) => id), phases },
  };
}
