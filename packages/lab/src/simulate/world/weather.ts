import { type Chance, chance } from '../../terminal/chance.ts';
import type { Fate, Link, Step, Weather } from './effects.ts';

// Decides which faults hit processes: none, a fault at chosen steps, or faults drawn from a seed.

const WELL: Fate = { kind: 'well' };

/** Each step takes one millisecond in each direction; the chosen steps get their fault. */
export const scripted = (fates: ReadonlyMap<number, Fate>): Weather => ({
  fate: (step) => fates.get(step.n) ?? WELL,
  delays: () => [1, 1],
  away: () => false,
});

export interface Storm extends Weather {
  readonly calmAtMs: number;
  readonly rehireMs: number;
  readonly departuresMs: readonly number[];
  readonly flushesMs: readonly number[];
}

const MAX_PAUSE_MS = 40_000;

/**
 * Crashes, pauses, errors, slowness, outages, deploys and lost Redis data, at rates drawn from a seed, until a time of
 * calm.
 */
export function storm(seed: string): Storm {
  const draw = chance(`${seed}/weather`);
  const calmAtMs = draw.whole(2_000, 60_000);
  const rates = {
    crash: draw.pick([0, 0.002, 0.01, 0.05]),
    pause: draw.pick([0, 0.002, 0.01, 0.05]),
    fails: draw.pick([0, 0.01, 0.05, 0.3]),
    slow: draw.pick([0, 0.05, 0.3]),
  };
  const outages: { link: Link; from: number; until: number }[] = Array.from({ length: draw.whole(0, 2) }, () => {
    const from = draw.whole(0, calmAtMs);
    return {
      link: draw.pick(['store', 'bus'] as const),
      from,
      until: Math.min(calmAtMs, from + draw.whole(100, 20_000)),
    };
  });
  const moments = (most: number) => Array.from({ length: draw.whole(0, most) }, () => draw.whole(0, calmAtMs));
  return {
    calmAtMs,
    rehireMs: draw.whole(100, 5_000),
    departuresMs: moments(2),
    flushesMs: draw.happens(0.3) ? moments(3) : [],
    fate: (step) => (step.at >= calmAtMs ? WELL : drawFate(draw, rates, step)),
    delays: () =>
      draw.happens(rates.slow) ? [draw.whole(0, 900), draw.whole(0, 900)] : [draw.whole(0, 3), draw.whole(0, 3)],
    away: (link, now) => outages.some((outage) => outage.link === link && now >= outage.from && now < outage.until),
  };
}

interface Rates {
  readonly crash: number;
  readonly pause: number;
  readonly fails: number;
}

function drawFate(draw: Chance, rates: Rates, step: Step): Fate {
  const when = draw.happens(0.5) ? 'before' : 'after';
  if (draw.happens(rates.crash)) return { kind: 'crash', when };
  if (draw.happens(rates.pause))
    return { kind: 'pause', when, ms: Math.round(10 ** draw.between(2, Math.log10(MAX_PAUSE_MS))) };
  if (step.link !== 'models' && draw.happens(rates.fails)) return { kind: 'fails', when };
  return WELL;
}
