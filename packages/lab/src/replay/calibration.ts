// Does confidence mean what it says? Every state between the first and the last vote of every poll is one forecast:
// the confidence C that its leader will be the full panel's winner, against whether it was.
import { standing } from '@eloquentpoll/voting';
import { courseOf, winnerOf } from './compare-rules.ts';
import type { RecordedPoll } from './recorded-poll.ts';

export interface Forecast {
  readonly confidence: number;
  readonly cameTrue: boolean;
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

export interface Calibration {
  readonly states: number;
  /** Expected calibration error: mean distance between confidence and what came true, over the bins. */
  readonly ece: number;
  /** The same over the states that were still open, where no lock had settled the poll. */
  readonly eceOpen: number;
  /** Mean squared error of a single forecast. */
  readonly brier: number;
  readonly bins: readonly Bin[];
}

const BINS = 10;

export function forecastsOf(polls: readonly RecordedPoll[]): Forecast[] {
  return polls.flatMap((recorded) => {
    const course = courseOf(recorded, 1);
    const elected = winnerOf(course.at(-1)!);
    return course.slice(1, -1).flatMap((poll) => {
      const { confidence, leader } = standing(poll);
      return confidence === null ? [] : [{ confidence, cameTrue: leader === elected }];
    });
  });
}

export function calibrate(forecasts: readonly Forecast[]): Calibration {
  const bins = binned(forecasts);
  return {
    states: forecasts.length,
    ece: calibrationError(bins),
    eceOpen: calibrationError(binned(forecasts.filter(({ confidence }) => confidence < 1))),
    brier: mean(forecasts.map(({ confidence, cameTrue }) => (confidence - Number(cameTrue)) ** 2)),
    bins,
  };
}

function binned(forecasts: readonly Forecast[]): Bin[] {
  const byBin = Map.groupBy(forecasts, ({ confidence }) => Math.min(BINS - 1, Math.floor(confidence * BINS)));
  return Array.from({ length: BINS }, (_, bin) => {
    const members = byBin.get(bin) ?? [];
    return {
      from: bin / BINS,
      to: (bin + 1) / BINS,
      states: members.length,
      confidence: mean(members.map(({ confidence }) => confidence)),
      cameTrue: mean(members.map(({ cameTrue }) => Number(cameTrue))),
    };
  });
}

function calibrationError(bins: readonly Bin[]): number {
  const states = bins.reduce((sum, bin) => sum + bin.states, 0);
  const error = bins.reduce((sum, bin) => sum + bin.states * Math.abs(bin.confidence - bin.cameTrue), 0);
  return states === 0 ? 0 : error / states;
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
