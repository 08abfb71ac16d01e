/** A least-squares line through points, with the error of its slope. */
export interface LinearFit {
  readonly slope: number;
  /** Standard error of the slope. */
  readonly slopeError: number;
  readonly mean: number;
}

export function linearFit(points: readonly (readonly [x: number, y: number])[]): LinearFit {
  const n = points.length;
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, n);
  const [meanX, mean] = [meanOf(points.map(([x]) => x)), meanOf(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  if (n < 3 || spread === 0) return { slope: 0, slopeError: Number.POSITIVE_INFINITY, mean };
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - mean), 0) / spread;
  const residual = points.reduce((sum, [x, y]) => sum + (y - mean - slope * (x - meanX)) ** 2, 0);
  return { slope, slopeError: Math.sqrt(residual / (n - 2) / spread), mean };
}

/**
 * How much a figure grew over the time of the points, as a share of its mean. Two standard errors are subtracted, so
 * that noise does not count as growth.
 */
export function surelyGrew(points: readonly (readonly [x: number, y: number])[]): number {
  const { slope, slopeError, mean } = linearFit(points);
  const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
  if (!Number.isFinite(slopeError) || mean === 0) return 0;
  return Math.max(0, ((slope - 2 * slopeError) * span) / mean);
}
