import type { Claim } from '@eloquentpoll/storage';
import type { TrackRecord } from '@eloquentpoll/voting';
import type { HeldLease } from './leases.ts';

/** A poll that this worker has claimed and is running. */
export interface LeasedPoll {
  readonly claim: Claim;
  /** The track record of the spec's roster version. Null if the spec names none or it is unknown. */
  readonly record: TrackRecord | null;
  readonly claimedAt: number;
  readonly lease: HeldLease;
  /** Aborts when the lease is lost, the worker has to stop, or a newer worker has taken the poll. */
  readonly alive: AbortSignal;
  abandon(reason: Error): void;
}

/** From the claim to the deadline, both by Postgres' clock. The worker may have less time. */
export const untilDeadlineMs = ({ createdAt, deadlineAt, ageMs }: Claim): number =>
  deadlineAt.getTime() - createdAt.getTime() - ageMs;

/** Part of every log line about a poll. The gateway logs the same request id. */
export const logFields = ({ id, requestId }: Claim) => ({ poll_id: id, request_id: requestId });

/** Owner of an anonymous poll's run record. No account has this id. */
const ANONYMOUS = 'anonymous';

export const ownerOf = ({ accountId }: Claim): string => accountId ?? ANONYMOUS;
