import { LEASE_MS } from '@eloquentpoll/storage';
import type { Clock } from './clock.ts';
import type { PollStore } from './ports.ts';

// Renews all leases of this process in one statement. Aborts polls that another worker has claimed, ends polls that
// their caller canceled. While Postgres is down, no worker can claim, so running polls continue.

const RENEW_EVERY_MS = 2_500;
/** Attempts per renewal. The second uses another connection. */
const MAX_TRIES = 2;
/** A worker that still holds a poll this long after its deadline is considered hung, and loses the poll. */
export const OVERDUE_MS = 5_000;

export interface HeldLease extends Disposable {
  readonly epoch: number;
  /** Aborts when another worker has claimed the poll. */
  readonly lost: AbortSignal;
  /** Aborts when the poll's caller canceled it. */
  readonly canceled: AbortSignal;
  /**
   * Resolves at once while the lease is within its term, otherwise after Postgres has answered who holds it. A process
   * that was paused may have lost its leases, so nothing with an outside effect may be done before this has resolved.
   */
  ensureFresh(): Promise<void>;
  /** Whether this worker holds the poll and `ensureFresh` would resolve at once. */
  isFresh(): boolean;
}

export interface Leases {
  /** `since`: when the claim was sent, in the time of `Clock`. */
  hold(pollId: string, epoch: number, since: number): HeldLease;
  /** Renews at once if this process holds the poll. Called when the poll may have been canceled. */
  look(pollId: string): void;
  readonly size: number;
  stop(): void;
}

interface Held {
  readonly epoch: number;
  readonly lost: AbortController;
  readonly canceled: AbortController;
  /** The lease lasts at least LEASE_MS from here on, as far as Postgres has answered. */
  since: number;
}

export function keepLeases(
  polls: Pick<PollStore, 'renew'>,
  workerId: string,
  clock: Clock,
  onError: (error: unknown) => void,
): Leases {
  const held = new Map<string, Held>();
  let stopped = false;
  let cancel = clock.after(RENEW_EVERY_MS, renew);
  let checking: Promise<void> | null = null;

  async function renewAll(tries = MAX_TRIES): Promise<void> {
    const asked = [...held].map(([id, lease]) => ({ id, epoch: lease.epoch, lease }));
    if (asked.length === 0) return;
    const since = clock.now();
    try {
      const ours = new Map((await polls.renew(workerId, asked)).map((renewed) => [renewed.id, renewed]));
      for (const { id, lease } of asked) {
        const renewed = ours.get(id);
        if (held.get(id) === lease && !renewed) lease.lost.abort(new Error('another worker has the poll'));
        if (renewed?.isCanceled) lease.canceled.abort(new Error('canceled by its caller'));
        // Where another transaction has locked the poll, its lease was not extended.
        if (renewed) lease.since = since + renewed.leftMs - LEASE_MS;
      }
    } catch (error) {
      onError(error);
      // After the process was paused, its connections are broken although Postgres may be fine.
      if (tries > 1) return renewAll(tries - 1);
      // While Postgres is not answering, it does not give the lease to another worker either.
      for (const { lease } of asked) lease.since = since;
    }
  }

  function check(): Promise<void> {
    checking ??= renewAll().finally(() => {
      checking = null;
    });
    return checking;
  }

  function renew(): void {
    void check().finally(() => {
      if (!stopped) cancel = clock.after(RENEW_EVERY_MS, renew);
    });
  }

  const isDue = (lease: Held): boolean => !lease.lost.signal.aborted && clock.now() - lease.since >= LEASE_MS;

  /** Repeats until a renewal was sent within the term, because the reply to an older one may be stale. */
  async function ensureFresh(pollId: string, lease: Held): Promise<void> {
    while (held.get(pollId) === lease && isDue(lease)) await check();
  }

  return {
    hold(pollId, epoch, since) {
      const lease: Held = { epoch, since, lost: new AbortController(), canceled: new AbortController() };
      // After an outage, a worker may claim a poll that it is still running. The earlier run ends here.
      held.get(pollId)?.lost.abort(new Error('claimed again'));
      held.set(pollId, lease);
      return {
        epoch,
        lost: lease.lost.signal,
        canceled: lease.canceled.signal,
        ensureFresh: () => ensureFresh(pollId, lease),
        isFresh: () => !lease.lost.signal.aborted && !isDue(lease),
        [Symbol.dispose]() {
          if (held.get(pollId) === lease) held.delete(pollId);
        },
      };
    },
    look(pollId) {
      // A running renewal may have been answered before the cancellation.
      if (held.has(pollId)) void (checking ?? Promise.resolve()).then(check);
    },
    get size() {
      return held.size;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
