/**
 * Tokens for retries: each call earns a tenth of one, a retry spends a whole one. A provider that fails everywhere is thus
 * asked at most a tenth more often than it would have been, while a single failure among many is always retried.
 */
export interface RetryBudget {
  earn(): void;
  spend(): boolean;
}

const PER_CALL = 0.1;
const MOST = 10;
/** A process that has just started may retry this often before it has earned anything. */
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
