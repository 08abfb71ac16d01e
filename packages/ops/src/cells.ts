/** A number that only grows. */
export class Counter {
  n = 0;
}

/** Counts values per bucket. */
export class Histogram {
  readonly bounds: readonly number[];
  /** One count per bound, plus one for values above all bounds. Not cumulative. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    counts[i]! += 1;
    this.sum += value;
  }
}
