import type { Chance } from '../terminal/chance.ts';
import { percentile } from '../terminal/table.ts';

export interface SlotLoad {
  perSecond: number;
  /** Median time that a poll holds its slot; log-normal. */
  pollMs: number;
  slots: number;
}

const SIGMA = 0.5;
const POLLS = 20_000;

/** The 99th percentile of the wait for a slot, in milliseconds, if polls arrive at random and are served in order. */
export function waitForSlots({ perSecond, pollMs, slots }: SlotLoad, chance: Chance): number {
  const free = new FreeTimes(slots);
  const waits: number[] = [];
  let now = 0;
  for (let i = 0; i < POLLS; i++) {
    now += (-Math.log(1 - chance.share()) * 1_000) / perSecond;
    const start = Math.max(now, free.earliest());
    free.take(start + chance.latency(pollMs, SIGMA));
    // The first polls find every slot free, so they do not count.
    if (i > POLLS / 4) waits.push(start - now);
  }
  return percentile(waits, 0.99) ?? 0;
}

/** When each slot becomes free, as a heap with the earliest on top. */
class FreeTimes {
  readonly #times: Float64Array;

  constructor(slots: number) {
    this.#times = new Float64Array(slots);
  }

  earliest(): number {
    return this.#times[0]!;
  }

  /** Occupies the slot that becomes free first until this time. */
  take(until: number): void {
    const times = this.#times;
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      if (left >= times.length) break;
      const least = left + 1 < times.length && times[left + 1]! < times[left]! ? left + 1 : left;
      if (times[least]! >= until) break;
      times[place] = times[least]!;
      place = least;
    }
    times[place] = until;
  }
}
