import { LEASE_MS } from '@eloquentpoll/storage';
import type { Clock } from './clock.ts';
import type { PollStore } from './ports.ts';

// Renews all leases of this process with one statement, aborts the polls whose lease another worker has claimed, and ends
// those that their callers canceled.
// While Postgres is away no worker can claim, so polls go on.

const RENEW_EVERY_MS = 2_500;
/** Of a renewal: the second comes over another connection. */
const MAX_TRIES = 2;
/** A worker that keeps a poll this long past its deadline hangs, and loses it. */
export const OVERDUE_MS = 5_000;

export interface HeldLease extends Disposable {
  readonly epoch: number;
  /** Aborts when another worker has the poll. */
  readonly lost: AbortSignal;
  /** Aborts when the poll's caller canceled it. */
  readonly canceled: AbortSignal;
  /**
   * Resolves at once while the lease is within its term, else when Postgres has answered whose it is. A process that was
   * paused wakes up with leases that may be lost, so nothing is done outside before this has resolved.
   */
  ensureFresh(): Promise<void>;
  /** Whether `ensureFresh` would resolve at once, and the poll is this worker's. */
  isFresh(): boolean;
}

export interface Leases {
  /** `since`: when the claim was sent, by the clock. */
  hold(pollId: string, epoch: number, since: number): HeldLease;
  /** Renews at once if the poll is held here: there is news of it. */
  look(pollId: string): void;
  readonly size: number;
  stop(): void;
}

interface Held {
  readonly epoch: number;
  readonly lost: AbortController;
  readonly canceled: AbortController;
  /** When the newest answered renewal was sent. */
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
      }
    } catch (error) {
      onError(error);
      // After a pause the connections are broken, which says nothing about Postgres.
      if (tries > 1) return renewAll(tries - 1);
    }
    // While Postgres does not answer, it gives the lease to no other worker.
    for (const { lease } of asked) lease.since = since;
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

  /** Repeats until a renewal was sent within the term: the reply to an older one may be stale. */
  async function ensureFresh(pollId: string, lease: Held): Promise<void> {
    while (held.get(pollId) === lease && isDue(lease)) await check();
  }

  return {
    hold(pollId, epoch, since) {
      const lease: Held = { epoch, since, lost: new AbortController(), canceled: new AbortController() };
      // After an outage the worker that takes a poll over may be the one that had it: its earlier run ends here.
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
      // A renewal under way may have been answered before the news.
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
