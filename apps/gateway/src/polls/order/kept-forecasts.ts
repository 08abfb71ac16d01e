import type { estimate } from '@eloquentpoll/voting';

// Forecasts by all that entered them. The models' records are part of it and change every few seconds, after which
// nothing asks for a forecast of before: it leaves when it was not used for a minute.

export type PollForecast = ReturnType<typeof estimate>;

/** Enough for every page of prices at once, and as many other polls. */
export const MAX_FORECASTS = 1_200;
export const UNUSED_MS = 60_000;

export interface KeptForecasts {
  get(key: string): PollForecast | undefined;
  /** Also drops what was not used lately. */
  set(key: string, forecast: PollForecast): void;
  size(): number;
}

export function keptForecasts(now: () => number = () => performance.now()): KeptForecasts {
  /** The one used last is at the end. */
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
