import type { Accepted } from '@eloquentpoll/storage';

// Why polls are not accepted, as eloquentpoll_polls_refused_total counts it. What the free pool lacks is not what an account
// lacks: its budget is spent, only held by running polls, or nothing on purpose.

export const REFUSALS = [
  ...(['too_many', 'too_many_of_key', 'too_late', 'over_ceiling', 'insufficient', 'key_limit'] as const),
  ...(['reused', 'frozen', 'stopped', 'free_spent', 'free_held', 'free_closed'] as const),
] as const;

type Refusal = (typeof REFUSALS)[number];

/** A pool that is only held answers at most this; see accept_poll.sql. */
export const MAX_HELD_RETRY_S = 5;

export function reasonOfRefusal(refused: Exclude<Accepted, { pollId: string }>, freeDailyCapU: bigint): Refusal {
  if (refused.kind !== 'insufficient' || refused.retryAfterS === null) return refused.kind;
  if (freeDailyCapU === 0n) return 'free_closed';
  return refused.retryAfterS <= MAX_HELD_RETRY_S ? 'free_held' : 'free_spent';
}
