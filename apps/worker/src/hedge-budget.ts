// A token bucket for hedges, filled by regular calls. Without it, a provider that is slow for all polls would get twice
// the load.

const HEDGES_PER_CALL = 0.1;
const BURST = 5;

export interface HedgeBudget {
  /** A regular call was made. */
  earn(): void;
  /** True when one more hedge may be launched. */
  spend(): boolean;
}

export function hedgeBudget(perCall = HEDGES_PER_CALL, burst = BURST): HedgeBudget {
  let tokens = burst;
  return {
    earn() {
      tokens = Math.min(burst, tokens + perCall);
    },
    spend() {
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
