import { LEASE_MS } from '@eloquentpoll/storage';
import type { Clock } from './clock.ts';
import type { PollStore } from './ports.ts';

// A lease says who runs a poll; its epoch fences the final write. All leases of this process are renewed by one
// statement. A lease that was not renewed in time may be taken by another worker, and the next renewal says so: then the
// poll is stopped here. While Postgres is away nobody can take a lease either, so polls go on. A process that was
// paused (stopped, swapped out, a frozen machine) wakes up with leases that are no longer its own and does not know it:
// so nothing is done outside under a lease that is older than its term before Postgres was asked.

const RENEW_EVERY_MS = 2_500;
/** Of a renewal: the second comes over another connection. */
const TRIES = 2;
/** A worker that keeps a poll this long past its deadline hangs, and loses it. */
export const OVERDUE_MS = 5_000;

export interface Lease extends Disposable {
  readonly epoch: number;
  /** Aborts when another worker has the poll. */
  readonly lost: AbortSignal;
  /** Resolves at once while the lease is within its term, else when Postgres was asked whose it is. */
  confirmed(): Promise<void>;
}

export interface Leases {
  /** `since`: when the claim was sent, by the clock. */
  hold(pollId: string, epoch: number, since: number): Lease;
  readonly size: number;
  stop(): void;
}

interface Held {
  readonly epoch: number;
  readonly lost: AbortController;
  /** When the question was sent whose answer we go by. */
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

  async function renewAll(tries = TRIES): Promise<void> {
    const asked = [...held].map(([id, lease]) => ({ id, epoch: lease.epoch, lease }));
    if (asked.length === 0) return;
    const since = clock.now();
    try {
      const ours = new Set(await polls.renew(workerId, asked));
      for (const { id, lease } of asked)
        if (held.get(id) === lease && !ours.has(id)) lease.lost.abort(new Error('another worker has the poll'));
    } catch (error) {
      onError(error);
      // Who was paused finds its connections broken, which says nothing about Postgres.
      if (tries > 1) return renewAll(tries - 1);
    }
    // A Postgres that does not answer counts as asked: it gives the lease to nobody else.
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

  /** An answer that was under way while the process was paused says nothing about now, however often it is paused. */
  async function confirm(pollId: string, lease: Held): Promise<void> {
    while (held.get(pollId) === lease && isDue(lease)) await check();
  }

  return {
    hold(pollId, epoch, since) {
      const lease: Held = { epoch, since, lost: new AbortController() };
      // After an outage the worker that takes a poll over may be the one that had it: its earlier run ends here.
      held.get(pollId)?.lost.abort(new Error('claimed again'));
      held.set(pollId, lease);
      return {
        epoch,
        lost: lease.lost.signal,
        confirmed: () => confirm(pollId, lease),
        [Symbol.dispose]() {
          if (held.get(pollId) === lease) held.delete(pollId);
        },
      };
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
