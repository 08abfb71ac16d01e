// Tests whether confidence is calibrated. Every state of a poll with a leader is one forecast: this leader will be the
// full panel's winner. Sums of any number of forecasts, as plain JSON.

export interface Forecast {
  readonly confidence: number;
  readonly cameTrue: boolean;
}

/** One bin: the number of forecasts, the sum of their confidence, and how many came true. */
type BinSums = [states: number, said: number, cameTrue: number];

export interface ForecastSums {
  readonly bins: BinSums[];
  squares: number;
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly states: number;
  /** Mean confidence of its states. */
  readonly confidence: number;
  /** Share of its states whose leader won. */
  readonly cameTrue: number;
}

export interface ForecastFigures {
  readonly states: number;
  /** Expected calibration error: the mean distance between confidence and the share that came true, over the bins. */
  readonly ece: number;
  /** Mean squared error of a single forecast. */
  readonly brier: number;
  readonly bins: readonly Bin[];
}

const BINS = 10;

export const noForecasts = (): ForecastSums => ({
  bins: Array.from({ length: BINS }, (): BinSums => [0, 0, 0]),
  squares: 0,
});

export function addForecast(sums: ForecastSums, { confidence, cameTrue }: Forecast): void {
  const bin = sums.bins[Math.min(BINS - 1, Math.floor(confidence * BINS))]!;
  bin[0] += 1;
  bin[1] += confidence;
  bin[2] += Number(cameTrue);
  sums.squares += (confidence - Number(cameTrue)) ** 2;
}

export function forecastFigures({ bins: sums, squares }: ForecastSums): ForecastFigures {
  const states = sums.reduce((all, [count]) => all + count, 0);
  const bins = sums.map(([count, said, cameTrue], bin) => ({
    ...{ from: bin / BINS, to: (bin + 1) / BINS, states: count },
    confidence: count === 0 ? 0 : said / count,
    cameTrue: count === 0 ? 0 : cameTrue / count,
  }));
  const error = bins.reduce((sum, bin) => sum + bin.states * Math.abs(bin.confidence - bin.cameTrue), 0);
  return { states, ece: error / Math.max(1, states), brier: squares / Math.max(1, states), bins };
}
