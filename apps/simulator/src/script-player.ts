import type { Failure, Script } from './behaviour.ts';
import { NamedCounts } from './counter.ts';
import { draws } from './seeded.ts';

// Decides what the next call does: first the listed steps in order, then seeded random failures. A new script starts at
// its beginning.

export class ScriptPlayer {
  readonly #counters = new WeakMap<Script, NamedCounts>();

  /** The failure of this call. Null for a regular answer. */
  next(script: Script, seed: string, who: string, poll: string | null): Failure | null {
    if (script.failures === undefined && script.steps === undefined) return null;
    let counter = this.#counters.get(script);
    if (counter === undefined) {
      counter = new NamedCounts();
      this.#counters.set(script, counter);
    }
    const step = script.steps?.[counter.next(script.steps_per === 'poll' ? `${who} ${poll}` : who)];
    if (step === 'answer') return null;
    if (step !== undefined) return step;
    let chance = draws(seed, 'failure', who, counter.next(`chance ${who}`))();
    for (const failure of script.failures ?? []) {
      chance -= failure.rate;
      if (chance < 0) return failure;
    }
    return null;
  }
}
