/**
 * A token bucket for retries: each call earns a tenth of a token, a retry costs one. So a provider that always fails is
 * called at most a tenth more often, while a single failure among many calls is always retried.
 */
export interface RetryBudget {
  earn(): void;
  spend(): boolean;
}

const PER_CALL = 0.1;
const MOST = 10;
/** A process that has just started may retry this often before it has earned a token. */
const AT_START = 2;

export function retryBudget(): RetryBudget {
  let tokens = AT_START;
  return {
    earn() {
      tokens = Math.min(MOST, tokens + PER_CALL);
    },
    spend() {
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
