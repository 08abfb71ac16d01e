import { LEASE_MS } from '@eloquentpoll/storage';
import type { Clock } from './clock.ts';
import type { PollStore } from './ports.ts';

// Renews all leases of this process in one statement. Aborts polls that another worker has claimed, ends polls that
// their caller canceled. While Postgres does not answer, a poll goes on until its lease has ended. From then on it asks
// no model: if only this worker is cut off, another one may have the poll, or its caller may have canceled it.

const RENEW_EVERY_MS = 2_500;
/** Attempts per renewal. The second uses another connection: after the process was paused, the first may be broken. */
const MAX_TRIES = 2;
/** The pause between renewals that something waits for, while Postgres does not answer. */
const ASK_AGAIN_MS = 500;
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
   * Also resolves, soon, once `unwanted` aborts.
   */
  ensureFresh(unwanted: AbortSignal): Promise<void>;
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
  let checking: Promise<boolean> | null = null;

  /** False if Postgres did not answer. */
  async function renewAll(tries = MAX_TRIES): Promise<boolean> {
    const asked = [...held].map(([id, lease]) => ({ id, epoch: lease.epoch, lease }));
    if (asked.length === 0) return true;
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
      return true;
    } catch (error) {
      onError(error);
      return tries > 1 ? renewAll(tries - 1) : false;
    }
  }

  function check(): Promise<boolean> {
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
  async function ensureFresh(pollId: string, lease: Held, unwanted: AbortSignal): Promise<void> {
    while (held.get(pollId) === lease && isDue(lease) && !unwanted.aborted)
      if (!(await check())) await new Promise<void>((resolve) => clock.after(ASK_AGAIN_MS, resolve));
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
        ensureFresh: (unwanted) => ensureFresh(pollId, lease, unwanted),
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
