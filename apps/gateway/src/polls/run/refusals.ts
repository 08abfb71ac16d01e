import type { Accepted } from '@eloquentpoll/storage';

// Why polls are refused, as counted by eloquentpoll_polls_refused_total. For the free pool, "not enough money" has
// causes that accounts do not have: the daily cap is spent, is only held by running polls, or is zero on purpose.

export const REFUSALS = [
  ...(['too_many', 'too_many_of_key', 'too_late', 'over_ceiling', 'insufficient', 'key_limit'] as const),
  ...(['reused', 'frozen', 'stopped', 'free_spent', 'free_held', 'free_closed'] as const),
] as const;

type Refusal = (typeof REFUSALS)[number];

/** When the pool is only held by running polls, Retry-After is at most this; see accept_poll.sql. */
export const MAX_HELD_RETRY_S = 5;

export function reasonOfRefusal(refused: Exclude<Accepted, { pollId: string }>, freeDailyCapU: bigint): Refusal {
  if (refused.kind !== 'insufficient' || refused.retryAfterS === null) return refused.kind;
  if (freeDailyCapU === 0n) return 'free_closed';
  return refused.retryAfterS <= MAX_HELD_RETRY_S ? 'free_held' : 'free_spent';
}
