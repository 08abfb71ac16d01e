import type { ServiceTier } from '@eloquentpoll/contracts';
import { TimeoutError, withTimeout } from '@eloquentpoll/ops/with-timeout';
import { Worker } from 'bullmq';
import { consumer, quit } from './connections.ts';
import type { Keys } from './keys.ts';
import { type Job, type PollQueue, QUEUES } from './poll-queue.ts';
import { reservedSlots } from './reserved-slots.ts';
import { tenantSlots } from './tenant-slots.ts';

/** A dead worker's job comes back after lock + check. The lease in Postgres is shorter, so that the claim then succeeds. */
export const JOB_LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** For jobs that were aborted to settle. */
const ABORT_GRACE_MS = 1_000;

export interface PollConsumer {
  /** Resolves when the first job can be taken. */
  ready(): Promise<void>;
  /** Takes no further job until it goes on; the running ones are left alone. */
  pause(): void;
  resume(): void;
  /** Takes further jobs only while fewer than this run, beside those in reserved slots. */
  limit(concurrency: number): void;
  /** Takes no further job, waits for the running ones up to the deadline, then aborts them. */
  drain(withinMs: number): Promise<void>;
}

export interface ConsumerOptions {
  /** Whose queue it takes from; `standard` without it. */
  lane?: ServiceTier;
  /** Polls that run at once. */
  concurrency: number;
  /** So many of them are of tenants that have few here, whatever the others ask for. */
  reserved?: number;
  /** Must settle soon after the signal aborts; what it throws is reported and the job is dropped. */
  run(pollId: string, signal: AbortSignal): Promise<void>;
  onError(error: Error): void;
}

export function consumeQueue(
  redisUrl: string,
  keys: Keys,
  queue: Pick<PollQueue, 'head' | 'remove'>,
  { lane = 'standard', concurrency, reserved = 0, run, onError }: ConsumerOptions,
): PollConsumer {
  const connection = consumer(redisUrl);
  connection.on('error', onError);
  const slots = tenantSlots(concurrency - reserved);
  const worker = new Worker<Job>(
    QUEUES[lane],
    async ({ data }, _token, signal) => {
      using _slot = slots.take(data.tenant);
      await run(data.pollId, signal ?? new AbortController().signal);
    },
    {
      connection,
      prefix: keys.queue,
      concurrency: concurrency - reserved,
      lockDuration: JOB_LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      // Poison is counted in Postgres, by attempts of the poll: BullMQ must not give up on a job before that.
      maxStalledCount: 1_000_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', onError);
  worker.on('failed', (_job, error) => onError(error));
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const id of jobIds) worker.cancelJob(id, 'lock lost');
  });
  const reserve = reservedSlots({ queue, slots, reserved, run, onError });
  return {
    async ready() {
      await worker.waitUntilReady();
    },
    pause() {
      reserve.pause();
      worker.pause(true).catch(onError);
    },
    resume() {
      reserve.resume();
      worker.resume().catch(onError);
    },
    limit(most) {
      worker.concurrency = Math.max(1, Math.min(most, concurrency - reserved));
    },
    async drain(withinMs) {
      reserve.pause();
      const drained = Promise.all([worker.close(), reserve.settled()]);
      try {
        await withTimeout(drained, withinMs);
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        worker.cancelAllJobs('shutdown');
        reserve.abort();
        await withTimeout(drained, ABORT_GRACE_MS).catch(() => undefined);
      }
      await quit(connection);
    },
  };
}
