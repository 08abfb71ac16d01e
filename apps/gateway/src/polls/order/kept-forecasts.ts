import type { estimate } from '@eloquentpoll/voting';

// Forecasts, keyed by all their inputs. These include the models' records, which change every few seconds and make
// older forecasts useless: one that was not used for a minute is dropped.

export type PollForecast = ReturnType<typeof estimate>;

/** Enough for every page of prices at once, plus as many other polls. */
export const MAX_FORECASTS = 1_200;
export const UNUSED_MS = 60_000;

export interface KeptForecasts {
  get(key: string): PollForecast | undefined;
  /** Also drops forecasts that were not used recently. */
  set(key: string, forecast: PollForecast): void;
  size(): number;
}

export function keptForecasts(now: () => number = () => performance.now()): KeptForecasts {
  /** In order of use, the most recent last. */
  const kept = new Map<string, { forecast: PollForecast; usedAt: number }>();

  function use(key: string, forecast: PollForecast): void {
    kept.delete(key);
    kept.set(key, { forecast, usedAt: now() });
  }

  return {
    get(key) {
      const known = kept.get(key)?.forecast;
      if (known) use(key, known);
      return known;
    },
    set(key, forecast) {
      use(key, forecast);
      for (const [oldest, { usedAt }] of kept) {
        if (kept.size <= MAX_FORECASTS && now() - usedAt < UNUSED_MS) break;
        kept.delete(oldest);
      }
    },
    size: () => kept.size,
  };
}
