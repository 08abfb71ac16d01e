/** Counts durations in steps of 5 %, so that its size does not depend on the length of the run. */
export class DurationHistogram {
  readonly #counts = new Map<number, number>();
  total = 0;

  add(ms: number): void {
    const step = Math.ceil(Math.log(Math.max(ms, 0.1)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.total += 1;
  }

  /** The upper bound of the step that contains this quantile; null if there are no durations. */
  quantile(share: number): number | null {
    let left = Math.ceil(share * this.total);
    for (const [step, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.exp(step * STEP);
    }
    return null;
  }
}

const STEP = Math.log(1.05);
