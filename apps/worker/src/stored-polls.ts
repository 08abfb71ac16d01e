import {
  beat,
  bury,
  claimOverdue,
  claimPoll,
  emptyClosedAccounts,
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

/** The store as it is in production: Postgres. */
export const storedPolls = (storage: Storage, records: TrackRecords = keepTrackRecords(storage)): PollStore => ({
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
  prune: async (limit) => (await pruneExpired(storage, limit)) + (await emptyClosedAccounts(storage, limit)),
});
