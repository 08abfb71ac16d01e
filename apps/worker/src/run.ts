import type { Claim } from '@eloquentpoll/storage';
import type { TrackRecord } from '@eloquentpoll/voting';
import type { HeldLease } from './leases.ts';

/** A poll that this worker has claimed and is running. */
export interface LeasedPoll {
  readonly claim: Claim;
  /** Of the roster version that its spec names, where it names one and that is known. */
  readonly record: TrackRecord | null;
  readonly claimedAt: number;
  readonly lease: HeldLease;
  /** Aborts when the lease is lost, the worker has to stop, or a newer worker has the poll. */
  readonly alive: AbortSignal;
  abandon(reason: Error): void;
}

/** From its claim to its deadline, all by Postgres' clock. The time that its worker has may end before. */
export const untilDeadlineMs = ({ createdAt, deadlineAt, ageMs }: Claim): number =>
  deadlineAt.getTime() - createdAt.getTime() - ageMs;

/** In every log line about a poll; the gateway's lines name the same request. */
export const logFields = ({ id, requestId }: Claim) => ({ poll_id: id, request_id: requestId });

/** Owner of an anonymous poll's run record: an account id that no account has. */
const ANONYMOUS = 'anonymous';

export const ownerOf = ({ accountId }: Claim): string => accountId ?? ANONYMOUS;
