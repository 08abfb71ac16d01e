import type { Claim } from '@eloquentpoll/storage';
import type { Context } from './context.ts';
import { OVERDUE_MS } from './leases.ts';

export interface ClaimedPoll {
  readonly claim: Claim;
  /** When the claim was sent and, below, when its answer arrived, in the time of `Clock`. */
  readonly sentAt: number;
  readonly claimedAt: number;
}

/** Null if the poll has ended or is unknown, or if another worker holds it and it is not overdue. */
export async function tryClaim(
  { polls, workerId, clock }: Pick<Context, 'polls' | 'workerId' | 'clock'>,
  pollId: string,
): Promise<ClaimedPoll | null> {
  const sentAt = clock.now();
  const claim = (await polls.claim(pollId, workerId)) ?? (await polls.claimOverdue(pollId, workerId, OVERDUE_MS));
  return claim && { claim, sentAt, claimedAt: clock.now() };
}
