import {
  beat,
  bury,
  type ClaimCeiling,
  claimOverdue,
  emptyExpiredPolls,
  emptyPollsOfClosed,
  findLapsed,
  findOverdue,
  forgetClosedAccounts,
  inSteps,
  keepTrackRecords,
  nextLapse,
  pollClaimer,
  pollFinisher,
  pruneExpired,
  releaseLease,
  renewLeases,
  type Storage,
  spendWaitMs,
  type TrackRecords,
  untilShort,
  withSweepLock,
} from '@eloquentpoll/storage';
import type { PollStore } from './ports.ts';

interface Parts {
  records?: TrackRecords;
  /** Above this, no flex poll is claimed, and no other poll a second time. */
  ceiling?: ClaimCeiling | undefined;
  /** Called with the polls that were deleted. */
  onDeleted?(pollIds: readonly string[]): void;
  /** Called when several claims were sent together and their outcome is unknown. */
  onClaimsLost?(error: unknown): void;
}

/** The store of production: Postgres. */
export const storedPolls = (
  storage: Storage,
  { records = keepTrackRecords(storage), ceiling, onDeleted, onClaimsLost }: Parts = {},
): PollStore => ({
  claim: pollClaimer(storage, ceiling, onClaimsLost),
  claimOverdue: (pollId, worker, graceMs) => claimOverdue(storage, pollId, worker, graceMs),
  renew: (worker, leases) => renewLeases(storage, worker, leases),
  release: (lease) => releaseLease(storage, lease),
  finish: pollFinisher(storage),
  bury: (poll) => bury(storage, poll),
  trackRecord: async (version) => (await records.of(version))?.record ?? null,
  findLapsed: (limit, skip) => findLapsed(storage, limit, skip),
  findOverdue: (limit, graceMs) => findOverdue(storage, limit, graceMs),
  nextLapse: (withinMs) => nextLapse(storage, withinMs),
  spendWaitMs: (pollId) => spendWaitMs(storage, pollId, ceiling),
  sweepAlone: (work) => withSweepLock(storage, work),
  beat: () => beat(storage, 'worker'),
  prune: (limit) => prune(storage, limit, onDeleted),
});

/** Each poll has about twenty rows. Emptying more polls in one transaction would hold locks for long. */
const EMPTIED_AT_ONCE = 250;

/** The steps are independent: one that fails or reaches its limit does not keep the others from running. */
function prune(storage: Storage, limit: number, onDeleted: Parts['onDeleted']): Promise<number> {
  const emptyWith = (empty: typeof emptyPollsOfClosed) => () =>
    untilShort(limit, EMPTIED_AT_ONCE, async (atOnce) => {
      const pollIds = await empty(storage, atOnce);
      onDeleted?.(pollIds);
      return pollIds.length;
    });
  // In this order, the rows of a deleted account's batches are deleted in the same pass, not a minute later.
  return inSteps([
    emptyWith(emptyExpiredPolls),
    emptyWith(emptyPollsOfClosed),
    () => forgetClosedAccounts(storage, limit),
    () => untilShort(limit, limit, (atOnce) => pruneExpired(storage, atOnce)),
  ]);
}
