import type { ConsumerOptions } from './consume-queue.ts';
import type { PollQueue, WaitingJob } from './poll-queue.ts';
import type { TenantSlots } from './tenant-slots.ts';

// Slots that no tenant can take alone. While all others are taken, a consumer looks through the head of the queue for
// polls of tenants that have few running here, and runs them beside the rest. The fair order has those near the head.

const LOOK_EVERY_MS = 200;
const LOOK_AT = 64;

export interface ReservedSlots {
  pause(): void;
  resume(): void;
  /** Resolves when none of its polls runs. */
  settled(): Promise<void>;
  abort(): void;
}

interface ReserveOptions extends Pick<ConsumerOptions, 'run' | 'onError'> {
  queue: Pick<PollQueue, 'head' | 'remove'>;
  slots: TenantSlots;
  reserved: number;
}

export function reservedSlots({ queue, slots, reserved, run, onError }: ReserveOptions): ReservedSlots {
  const running = new Set<Promise<void>>();
  const aborting = new AbortController();
  /** Two tenants that fill all other slots leave the reserve to third ones. */
  const few = Math.max(1, Math.ceil(reserved / 2));
  let isPaused = false;
  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    if (isPaused || looking || !slots.areFull || running.size >= reserved) return;
    looking = look()
      .catch(onError)
      .finally(() => {
        looking = null;
      });
  }, LOOK_EVERY_MS).unref();

  async function look(): Promise<void> {
    for (const job of await queue.head(LOOK_AT)) {
      if (isPaused || running.size >= reserved) return;
      if (job.tenant !== undefined && slots.of(job.tenant) < few && (await queue.remove(job.jobId))) start(job);
    }
  }

  /** Without a job: what dies here is found by the sweep. */
  function start({ pollId, tenant }: WaitingJob): void {
    const slot = slots.take(tenant);
    const ended = run(pollId, aborting.signal)
      .catch(onError)
      .finally(() => {
        slot[Symbol.dispose]();
        running.delete(ended);
      });
    running.add(ended);
  }

  return {
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
    async settled() {
      clearInterval(timer);
      await looking;
      await Promise.all(running);
    },
    abort: () => aborting.abort(new Error('shutdown')),
  };
}
