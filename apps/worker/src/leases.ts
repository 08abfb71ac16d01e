import { renewLeases, type Storage } from '@eloquentpoll/storage';
import type { Clock } from './clock.ts';

// A lease says who runs a poll; its epoch fences the final write. All leases of this process are renewed by one
// statement. A lease that was not renewed in time may be taken by another worker, and the next renewal says so: then the
// poll is stopped here. While Postgres is away nobody can take a lease either, so polls go on.

const RENEW_EVERY_MS = 2_500;
/** Shorter than the queue's lock on a job, so that a dead worker's poll can be claimed when its job comes back. */
export const LEASE_MS = 8_000;
/** A worker that keeps a poll this long past its deadline hangs, and loses it. */
export const OVERDUE_MS = 5_000;

export interface Lease extends Disposable {
  readonly epoch: number;
  /** Aborts when another worker has the poll. */
  readonly lost: AbortSignal;
}

export interface Leases {
  hold(pollId: string, epoch: number): Lease;
  readonly size: number;
  stop(): void;
}

export function keepLeases(
  storage: Storage,
  workerId: string,
  clock: Clock,
  onError: (error: unknown) => void,
): Leases {
  const held = new Map<string, { epoch: number; lost: AbortController }>();
  let stopped = false;
  let cancel = clock.after(RENEW_EVERY_MS, renew);

  async function renewAll(): Promise<void> {
    const asked = [...held].map(([id, { epoch }]) => ({ id, epoch }));
    if (asked.length === 0) return;
    const ours = new Set(await renewLeases(storage, workerId, asked, LEASE_MS));
    for (const { id, epoch } of asked) {
      const lease = held.get(id);
      if (lease?.epoch === epoch && !ours.has(id)) lease.lost.abort(new Error('another worker has the poll'));
    }
  }

  function renew(): void {
    void renewAll()
      .catch(onError)
      .finally(() => {
        if (!stopped) cancel = clock.after(RENEW_EVERY_MS, renew);
      });
  }

  return {
    hold(pollId, epoch) {
      const lost = new AbortController();
      const lease = { epoch, lost };
      held.set(pollId, lease);
      return {
        epoch,
        lost: lost.signal,
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
