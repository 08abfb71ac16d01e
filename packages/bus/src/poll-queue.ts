import type { ServiceTier } from '@eloquentpoll/contracts';
import { Queue } from 'bullmq';
import { type FairPlace, fairTurns, priorityOf } from './fair-turns.ts';
import type { Keys } from './keys.ts';
import type { RedisClient } from './redis-client.ts';

// The queue carries ids. The row in Postgres holds the poll, and claiming it there decides who runs it; a job that comes
// twice, late or for nothing is harmless. Only this must hold: a running poll without a worker gets a job again.

/** Of each lane. */
export const QUEUES: Readonly<Record<ServiceTier, string>> = { standard: 'polls', flex: 'flex' };

export interface Job {
  pollId: string;
  /** Whose poll it is, for the slots that no tenant can take alone. */
  tenant?: string;
}

export interface QueueCounts {
  waiting: number;
  active: number;
  /** Since when the job that is taken next has been there, the oldest of both lists; null when none waits. */
  oldestAt: number | null;
}

/** What a new poll would find. */
export interface Backlog {
  /** For each rank that was asked about, how many jobs come before one with it. */
  before: number[];
  active: number;
}

export interface EnqueueOptions {
  /** Distinguishes the jobs of one poll, so that one that died with its worker does not block the next. */
  round?: number;
  tenant?: string | undefined;
  /** Without one the poll is taken before all that have one. */
  place?: FairPlace;
}

/** A poll and how it is enqueued. */
export interface Enqueued extends EnqueueOptions {
  pollId: string;
}

export interface WaitingJob extends Job {
  jobId: string;
}

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
  /** The same for many polls, in one exchange with Redis. */
  enqueueAll(polls: readonly Enqueued[]): Promise<void>;
  /** The jobs that are taken next, in order. */
  head(limit: number): Promise<WaitingJob[]>;
  /** False when a worker has it. */
  remove(jobId: string): Promise<boolean>;
  counts(): Promise<QueueCounts>;
  waiting(): Promise<number>;
  backlog(ranks: readonly number[]): Promise<Backlog>;
  close(): Promise<void>;
}

export function openQueue(
  connection: RedisClient,
  keys: Keys,
  lane: ServiceTier,
  onError: (error: Error) => void,
): PollQueue {
  const queue = new Queue<Job>(QUEUES[lane], {
    connection,
    prefix: keys.queue,
    skipWaitingForReady: true,
    streams: { events: { maxLen: 1_000 } },
    // Nothing is kept: Postgres remembers polls, and an id that is kept blocks the next round of the same poll.
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  });
  queue.on('error', onError);
  const turns = fairTurns(connection, queue.toKey('prioritized'), keys.turn(lane));

  async function enqueueAll(polls: readonly Enqueued[]): Promise<void> {
    const turn = polls.some(({ place }) => place) ? await turns.present() : 0;
    await queue.addBulk(
      polls.map(({ pollId, round = 0, tenant, place }) => ({
        name: 'poll',
        data: tenant === undefined ? { pollId } : { pollId, tenant },
        opts: { jobId: round === 0 ? pollId : `${pollId}.${round}`, priority: place ? priorityOf(turn, place) : 0 },
      })),
    );
  }

  return {
    async ready() {
      await queue.waitUntilReady();
    },
    enqueue: (pollId, options) => enqueueAll([{ pollId, ...options }]),
    enqueueAll,
    async head(limit) {
      const lists = await Promise.all([
        queue.getJobs(['waiting'], 0, limit - 1, true),
        queue.getJobs(['prioritized'], 0, limit - 1, true),
      ]);
      // A job that was taken meanwhile is undefined.
      return lists.flat().flatMap((job) => (job?.id ? [{ ...job.data, jobId: job.id }] : []));
    },
    remove: async (jobId) => (await queue.remove(jobId)) === 1,
    async counts() {
      const [{ waiting = 0, prioritized = 0, active = 0 }, oldest] = await Promise.all([
        queue.getJobCounts('waiting', 'prioritized', 'active'),
        Promise.all([queue.getJobs(['waiting'], 0, 0, true), queue.getJobs(['prioritized'], 0, 0, true)]),
      ]);
      const since = oldest.flat().map((job) => job.timestamp);
      return { waiting: waiting + prioritized, active, oldestAt: since.length > 0 ? Math.min(...since) : null };
    },
    async waiting() {
      const { waiting = 0, prioritized = 0 } = await queue.getJobCounts('waiting', 'prioritized');
      return waiting + prioritized;
    },
    async backlog(ranks) {
      const [before, { waiting = 0, active = 0 }] = await Promise.all([
        turns.before(ranks),
        queue.getJobCounts('waiting', 'active'),
      ]);
      return { before: before.map((n) => n + waiting), active };
    },
    async close() {
      await queue.close().catch(onError);
    },
  };
}
