// The load of shared machines changes from second to second, so contenders are measured in turn. Every window measures
// each contender once, in rotating order. The result is the lower quartile over all windows.

/** Measures once and returns named figures; smaller is better for all of them. */
export type Contender = (ms: number) => Promise<Readonly<Record<string, number>>>;

export type WindowFigures = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface MeasurePlan {
  windows: number;
  windowMs: number;
  soakMinutes: number;
  /** Of the batch, and how many processes are killed while it runs. */
  batch: { rows: number; kills: number };
  signal: AbortSignal;
  /** Called for each measured window. */
  onWindow(done: number, of: number, name: string): void;
}

/** `full`, or a small number in a run with short windows, which only checks that everything works. */
export const sized = ({ windowMs }: Pick<MeasurePlan, 'windowMs'>, full: number): number =>
  windowMs < 500 ? Math.min(full, 6) : full;

export async function interleaved(
  contenders: Readonly<Record<string, Contender>>,
  plan: MeasurePlan,
): Promise<WindowFigures> {
  const names = Object.keys(contenders);
  const samples = new Map<string, Record<string, number>[]>(names.map((name) => [name, []]));
  for (let window = 0; window < plan.windows; window++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(turn + window) % names.length]!;
      plan.signal.throwIfAborted();
      plan.onWindow(window * names.length + turn, plan.windows * names.length, name);
      samples.get(name)!.push(await contenders[name]!(plan.windowMs));
    }
  }
  return Object.fromEntries([...samples].map(([name, taken]) => [name, quartiles(taken)]));
}

function quartiles(taken: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const figures = Object.keys(taken[0] ?? {});
  return Object.fromEntries(figures.map((figure) => [figure, lowerQuartile(taken.map((sample) => sample[figure]!))]));
}

/** Interpolated between ranks, because there may be only a handful of values. */
export function lowerQuartile(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) / 4;
  const low = sorted[Math.floor(place)]!;
  return low + (sorted[Math.ceil(place)]! - low) * (place % 1);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
