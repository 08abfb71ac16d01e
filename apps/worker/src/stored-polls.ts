import {
  beat,
  bury,
  claimOverdue,
  claimPoll,
  emptyClosedAccounts,
  emptyExpiredPolls,
  findLapsed,
  findOverdue,
  finishPoll,
  keepTrackRecords,
  pruneExpired,
  releaseLease,
  renewLeases,
  type Storage,
  type TrackRecords,
  withSweepLock,
} from '@eloquentpoll/storage';
import type { PollStore } from './ports.ts';

interface Parts {
  records?: TrackRecords;
  /** Hears of polls that were deleted. */
  onDeleted?(pollIds: readonly string[]): void;
}

/** The store as it is in production: Postgres. */
export const storedPolls = (
  storage: Storage,
  { records = keepTrackRecords(storage), onDeleted }: Parts = {},
): PollStore => ({
  claim: (pollId, worker) => claimPoll(storage, pollId, worker),
  claimOverdue: (pollId, worker, graceMs) => claimOverdue(storage, pollId, worker, graceMs),
  renew: (worker, leases) => renewLeases(storage, worker, leases),
  release: (lease) => releaseLease(storage, lease),
  finish: (poll) => finishPoll(storage, poll),
  bury: (poll) => bury(storage, poll),
  trackRecord: async (version) => (await records.of(version))?.record ?? null,
  findLapsed: (limit, skip) => findLapsed(storage, limit, skip),
  findOverdue: (limit, graceMs) => findOverdue(storage, limit, graceMs),
  sweepAlone: (work) => withSweepLock(storage, work),
  beat: () => beat(storage, 'worker'),
  prune: async (limit) => (await pruneExpired(storage, limit)) + (await emptyPolls(storage, limit, onDeleted)),
});

/** Each has some twenty rows: more in one transaction would hold their locks for long. */
const EMPTIED_AT_ONCE = 250;

async function emptyPolls(storage: Storage, limit: number, onDeleted: Parts['onDeleted']): Promise<number> {
  let emptied = 0;
  for (const empty of [emptyExpiredPolls, emptyClosedAccounts]) {
    while (emptied < limit) {
      const pollIds = await empty(storage, EMPTIED_AT_ONCE);
      emptied += pollIds.length;
      onDeleted?.(pollIds);
      if (pollIds.length < EMPTIED_AT_ONCE) break;
    }
  }
  return emptied;
}
