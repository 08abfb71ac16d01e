/** Counts of durations in steps of 5 %: as large after two hours as after two minutes. */
export class LogScale {
  readonly #counts = new Map<number, number>();
  total = 0;

  add(ms: number): void {
    const step = Math.ceil(Math.log(Math.max(ms, 0.1)) / STEP);
    this.#counts.set(step, (this.#counts.get(step) ?? 0) + 1);
    this.total += 1;
  }

  /** The upper end of the step that holds this share of all; null of none. */
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
