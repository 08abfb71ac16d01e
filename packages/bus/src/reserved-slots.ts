import type { PollQueue } from './poll-queue.ts';
import type { WaitingJob } from './queue-shard.ts';
import type { TenantSlots } from './tenant-slots.ts';

// Slots that no tenant can take alone. While all others are taken, a consumer looks through the head of the queue for
// polls of tenants that have few running here, and runs them beside the rest. The fair order has those near the head.

const LOOK_EVERY_MS = 200;
const LOOK_AT = 64;

export interface ReservedSlots {
  pause(): void;
  resume(): void;
  /** Resolves when it takes nothing more. */
  stop(): Promise<void>;
}

interface ReserveOptions {
  queue: Pick<PollQueue, 'head'>;
  slots: TenantSlots;
  reserved: number;
  /** Resolves when the job has ended. */
  run(job: WaitingJob): Promise<void>;
  onError(error: Error): void;
}

export function reservedSlots({ queue, slots, reserved, run, onError }: ReserveOptions): ReservedSlots {
  let running = 0;
  /** Two tenants that fill all other slots leave the reserve to third ones. */
  const few = Math.max(1, Math.ceil(reserved / 2));
  let isPaused = false;
  let looking: Promise<void> | null = null;
  const timer = setInterval(() => {
    if (isPaused || looking || !slots.areFull || running >= reserved) return;
    looking = look()
      .catch(onError)
      .finally(() => {
        looking = null;
      });
  }, LOOK_EVERY_MS).unref();

  async function look(): Promise<void> {
    for (const job of await queue.head(LOOK_AT)) {
      if (isPaused || running >= reserved) return;
      if (job.tenant === undefined || slots.of(job.tenant) >= few || !(await job.shard.pick(job.jobId))) continue;
      running += 1;
      void run(job).finally(() => {
        running -= 1;
      });
    }
  }

  return {
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
    async stop() {
      isPaused = true;
      clearInterval(timer);
      await looking;
    },
  };
}
