// Limits how many failures of one account's polls count against one model, so that no caller can switch a model off.

/** Per window. Fewer than open a breaker. Polls without an account share one limit. */
const MAX_FAILURES = 3;
const WINDOW_MS = 10 * 60_000;
/** With more entries (account and model), the window starts anew. */
const MAX_ENTRIES = 20_000;

/** Counts a failure. False if the account has reached its limit. */
export type FailureLimit = (of: { accountId?: string | undefined; modelId: string }) => boolean;

export function failureLimit(now: () => number): FailureLimit {
  let failures = new Map<string, number>();
  let windowEndsAt = now() + WINDOW_MS;
  return ({ accountId, modelId }) => {
    if (now() >= windowEndsAt || failures.size >= MAX_ENTRIES) {
      failures = new Map();
      windowEndsAt = now() + WINDOW_MS;
    }
    const key = `${accountId} ${modelId}`;
    const before = failures.get(key) ?? 0;
    failures.set(key, before + 1);
    return before < MAX_FAILURES;
  };
}
