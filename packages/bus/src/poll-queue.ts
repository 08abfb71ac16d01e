import { TimeoutError, withTimeout } from '@eloquentpoll/ops/with-timeout';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { consumer, quit } from './connections.ts';
import type { Keys } from './keys.ts';

// The queue carries ids. The row in Postgres holds the poll, and claiming it there decides who runs it; a job that comes
// twice, late or for nothing is harmless. Only this must hold: a running poll without a worker gets a job again.

const QUEUE = 'polls';

/** A dead worker's job comes back after lock + check. The lease in Postgres is shorter, so that the claim then succeeds. */
export const JOB_LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** For jobs that were aborted to settle. */
const ABORT_GRACE_MS = 1_000;

interface Job {
  pollId: string;
}

export interface QueueCounts {
  waiting: number;
  active: number;
  /** Since when the job that is taken next has been there, the oldest of both lists; null when none waits. */
  oldestAt: number | null;
}

export interface EnqueueOptions {
  /** Distinguishes the jobs of one poll, so that one that died with its worker does not block the next. */
  round?: number;
  /** Jobs with a lower rank are taken first; 0, the default, before all others. */
  rank?: number;
}

/** BullMQ's bound on priorities. */
const MAX_RANK = 2_097_151;

export interface PollQueue {
  /**
   * Resolves once BullMQ knows the version of Redis. It asks once and keeps a failure too: a queue that was not ready
   * when it was first used would never be.
   */
  ready(): Promise<void>;
  /**
   * Fails within a second when Redis is away. A job that died with its worker still occupies its id, and a second job
   * with the same id would be dropped: that is what `round` is for.
   */
  enqueue(pollId: string, options?: EnqueueOptions): Promise<void>;
  counts(): Promise<QueueCounts>;
  close(): Promise<void>;
}

export function openQueue(connection: Redis, keys: Keys, onError: (error: Error) => void): PollQueue {
  const queue = new Queue<Job>(QUEUE, {
    connection,
    prefix: keys.queue,
    skipWaitingForReady: true,
    streams: { events: { maxLen: 1_000 } },
    // Nothing is kept: Postgres remembers polls, and an id that is kept blocks the next round of the same poll.
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  });
  queue.on('error', onError);
  return {
    async ready() {
      await queue.waitUntilReady();
    },
    async enqueue(pollId, { round = 0, rank = 0 } = {}) {
      const jobId = round === 0 ? pollId : `${pollId}.${round}`;
      await queue.add('poll', { pollId }, { jobId, priority: Math.min(rank, MAX_RANK) });
    },
    async counts() {
      const [{ waiting = 0, prioritized = 0, active = 0 }, oldest] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized', 'active'),
        Promise.all([queue.getJobs(['waiting'], 0, 0, true), queue.getJobs(['prioritized'], 0, 0, true)]),
      ]);
      const since = oldest.flat().map((job) => job.timestamp);
      return { waiting: waiting + prioritized, active, oldestAt: since.length > 0 ? Math.min(...since) : null };
    },
    async close() {
      await queue.close().catch(onError);
    },
  };
}

export interface PollConsumer {
  /** Resolves when the first job can be taken. */
  ready(): Promise<void>;
  /** Takes no further job until it goes on; the running ones are left alone. */
  pause(): void;
  resume(): void;
  /** Takes no further job, waits for the running ones up to the deadline, then aborts them. */
  drain(withinMs: number): Promise<void>;
}

export interface ConsumerOptions {
  concurrency: number;
  /** Must settle soon after the signal aborts; what it throws is reported and the job is dropped. */
  run(pollId: string, signal: AbortSignal): Promise<void>;
  onError(error: Error): void;
}

export function consumeQueue(redisUrl: string, keys: Keys, options: ConsumerOptions): PollConsumer {
  const connection = consumer(redisUrl);
  connection.on('error', options.onError);
  const worker = new Worker<Job>(
    QUEUE,
    async (job, _token, signal) => options.run(job.data.pollId, signal ?? new AbortController().signal),
    {
      connection,
      prefix: keys.queue,
      concurrency: options.concurrency,
      lockDuration: JOB_LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      // Poison is counted in Postgres, by attempts of the poll: BullMQ must not give up on a job before that.
      maxStalledCount: 1_000_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', options.onError);
  worker.on('failed', (_job, error) => options.onError(error));
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const id of jobIds) worker.cancelJob(id, 'lock lost');
  });
  return {
    async ready() {
      await worker.waitUntilReady();
    },
    pause() {
      worker.pause(true).catch(options.onError);
    },
    resume() {
      worker.resume().catch(options.onError);
    },
    async drain(withinMs) {
      const drained = worker.close();
      try {
        await withTimeout(drained, withinMs);
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error;
        worker.cancelAllJobs('shutdown');
        await withTimeout(drained, ABORT_GRACE_MS).catch(() => undefined);
      }
      await quit(connection);
    },
  };
}
