// Compares confidence with what came true. Every state between the first and the last vote of every poll is one
// forecast: the confidence that its leader will be the full panel's winner, against whether it was.
import { addForecast, type Forecast, type ForecastFigures, forecastFigures, noForecasts } from '@eloquentpoll/evidence';
import { standing } from '@eloquentpoll/voting';
import { courseOf, winnerOf } from './compare-rules.ts';
import type { RecordedPoll } from './recorded-poll.ts';

export interface Calibration extends ForecastFigures {
  /** The expected calibration error over the states that were still open, where no lock had settled the poll. */
  readonly eceOpen: number;
}

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

export const calibrate = (forecasts: readonly Forecast[]): Calibration => ({
  ...figuresOf(forecasts),
  eceOpen: openFigures(forecasts).ece,
});

/** Only of states that no lock had settled. A report knows no others, because polls stop on a lock. */
export const openFigures = (forecasts: readonly Forecast[]): ForecastFigures =>
  figuresOf(forecasts.filter(({ confidence }) => confidence < 1));

function figuresOf(forecasts: readonly Forecast[]): ForecastFigures {
  const sums = noForecasts();
  for (const forecast of forecasts) addForecast(sums, forecast);
  return forecastFigures(sums);
}
