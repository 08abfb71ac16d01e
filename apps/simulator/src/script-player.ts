import type { Failure, Script } from './behaviour.ts';
import { NamedCounts } from './counter.ts';
import { draws } from './seeded.ts';

// Decides what the next call does: first the listed steps in their order, then failures by seeded chance. A script
// that is set anew starts from its beginning.

export class ScriptPlayer {
  readonly #counters = new WeakMap<Script, NamedCounts>();

  /** The failure that this call suffers; null for an honest answer. */
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
