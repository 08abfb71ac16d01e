/** A number that only grows. */
export class Counter {
  n = 0;
}

/** How often values fell below each of a few bounds. */
export class Histogram {
  readonly bounds: readonly number[];
  /** Per bound, and one more for what is above all. Not cumulated. */
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
