import { sleepUnlessAborted } from '../fixture/sleep-unless-aborted.ts';
import type { Load } from './caller-load.ts';
import type { Fault } from './fault-kinds.ts';
import type { Injection } from './inject-faults.ts';

// Two kinds of phases in turn: one with a flood, and one without. Both phases of a round are equally long and draw the same
// polls and the same faults at the same moments. Whatever slows polls in one of them besides the flood also does in the
// other, so no poll has to be left out of the comparison.

/** When quiet accounts asked polls. */
export interface FloodPhase {
  readonly isFlooded: boolean;
  readonly from: number;
  readonly until: number;
}

interface FloodRounds {
  readonly rounds: number;
  readonly seed: string;
  /** Aborted when the campaign ends. */
  readonly signal: AbortSignal;
  startFlood(seed: string): Load;
  startQuiet(seed: string): Load;
  /** `over` is aborted at the end of the phase. */
  inject(seed: string, over: AbortSignal): Injection;
  /** Resolves when the service is whole again. */
  repair(): Promise<void>;
  readonly settleMs?: number;
  readonly phaseMs?: number;
}

interface PlayedPhases {
  readonly injection: Injection;
  readonly load: Load;
  /** Those that have ended. */
  readonly phases: readonly FloodPhase[];
}

const PHASE_MS = 25_000;
/** Until the queue is full of the flood. */
const SETTLE_MS = 3_000;

export function playFloodPhases(options: FloodRounds): PlayedPhases {
  const { rounds, seed, signal, settleMs = SETTLE_MS, phaseMs = PHASE_MS } = options;
  const injected: Fault[] = [];
  const skipped = new Map<string, number>();
  const phases: FloodPhase[] = [];
  const loads: Load[] = [];
  const isOver = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  const started = (load: Load): Load => {
    loads.push(load);
    return load;
  };

  async function phase(round: string, isFlooded: boolean): Promise<void> {
    const sent = isFlooded ? [started(options.startFlood(`${round}|flood`))] : [];
    await sleepUnlessAborted(settleMs, signal);
    const from = Date.now();
    const asked = started(options.startQuiet(round));
    const over = new AbortController();
    const faults = options.inject(round, AbortSignal.any([signal, over.signal]));
    await sleepUnlessAborted(phaseMs, signal);
    const until = Date.now();
    const answered = [asked, ...sent].map((load) => load.finish());
    over.abort();
    await faults.done;
    injected.push(...faults.injected);
    for (const [kind, times] of faults.skipped) skipped.set(kind, (skipped.get(kind) ?? 0) + times);
    if (!signal.aborted) phases.push({ isFlooded, from, until });
    // The next phase begins with a whole service, and without a poll of this one.
    await options.repair();
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
    phases,
  };
}
