import type { PollQueue } from './poll-queue.ts';
import type { WaitingJob } from './queue-shard.ts';
import type { TenantSlots } from './tenant-slots.ts';

// Slots that no tenant can take alone. While all other slots are taken, a consumer searches the first jobs of the queue
// for tenants with few polls running here, and runs those too. The fair order keeps such jobs near the front.

const LOOK_EVERY_MS = 200;
const LOOK_AT = 64;

export interface ReservedSlots {
  pause(): void;
  resume(): void;
  /** Resolves when no more jobs will be taken. */
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
  /** If two tenants fill all other slots, neither can take the reserve from a third. */
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
