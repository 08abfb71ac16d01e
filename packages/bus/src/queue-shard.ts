import type { ShardKeys } from './keys.ts';
import { endOfTurn, SHARD_KEYS, turnOf } from './queue-scripts.ts';
import type { RedisClient } from './redis-client.ts';

// One shard of a lane's queue: runs the scripts and parses their replies.

export interface PollJob {
  jobId: string;
  pollId: string;
  /** The poll's tenant, for the reserved slots. */
  tenant: string | undefined;
  /** The process that waits for the poll's end. */
  awaitedBy: string | undefined;
}

export interface WaitingJob extends PollJob {
  shard: QueueShard;
  score: number;
}

export interface Wish {
  consumer: string;
  /** How many jobs it wants now. */
  want: number;
  /** The lowest known score of a first job in other shards. Infinity if there is none. */
  elsewhere: number;
  /**
   * By how many turns a job may be later than `elsewhere`. The consumer's other free slots are for the jobs in between.
   */
  ahead: number;
  /** How many jobs it may be sent later if none is available now. */
  later: number;
  /** The consumer's jobs that have ended. */
  ended: readonly string[];
}

export interface Taken {
  jobs: PollJob[];
  /** The current turn. */
  turn: number;
  /** The score of the next job. Infinity if none waits. */
  head: number;
}

export interface QueueShard {
  /** `jobs`: id, facts and place of each job in turn. `turn`: the newest known turn. Returns the current one. */
  add(turn: number, jobs: readonly (string | number)[]): Promise<number>;
  take(turn: number, wish: Wish): Promise<Taken>;
  /** Extends the time for which the consumer holds these jobs to HELD_MS from now. */
  renew(jobIds: readonly string[]): Promise<void>;
  /** Other consumers can get it at the next exchange. */
  giveBack(jobId: string): Promise<void>;
  head(limit: number): Promise<WaitingJob[]>;
  /** False if another consumer has it. */
  pick(jobId: string): Promise<boolean>;
  counts(): Promise<{ waiting: number; active: number; oldestAt: number | null }>;
  backlog(turn: number, places: readonly number[]): Promise<{ turn: number; active: number; before: number[] }>;
  waiting(): Promise<number>;
  /** The channel on which a consumer is sent jobs. */
  channel(consumer: string): string;
}

export function queueShard(redis: RedisClient, keys: ShardKeys): QueueShard {
  const all = SHARD_KEYS.map((name) => keys[name]);
  const shard: QueueShard = {
    add: (turn, jobs) => redis.epQueueAdd(...all, turn, keys.channels, ...jobs),
    async take(turn, { consumer, want, elsewhere, ahead, later, ended }) {
      const [upTo, first] = Number.isFinite(elsewhere)
        ? [endOfTurn(elsewhere, ahead), Math.max(0, turnOf(elsewhere))]
        : ['+inf', -1];
      const wish = [consumer, keys.channels, want, upTo, later, turn, first];
      const [head, present, ...flat] = await redis.epQueueTake(...all, ...wish, ...ended);
      const jobs: PollJob[] = [];
      for (let i = 0; i + 1 < flat.length; i += 2) jobs.push(pollJob(flat[i]!, flat[i + 1]!));
      return { jobs, turn: Number(present), head: head ? Number(head) : Number.POSITIVE_INFINITY };
    },
    async renew(jobIds) {
      await redis.epQueueRenew(...all, ...jobIds);
    },
    async giveBack(jobId) {
      await redis.zadd(keys.taken, 'XX', 0, jobId);
    },
    async head(limit) {
      const reply = await redis.epQueueHead(...all, limit);
      const jobs = reply.length / 3;
      return Array.from({ length: jobs }, (_, i) => ({
        ...pollJob(reply[2 * i]!, reply[2 * jobs + i]!),
        shard,
        score: Number(reply[2 * i + 1]),
      }));
    },
    pick: async (jobId) => (await redis.epQueuePick(...all, jobId)) === 1,
    async counts() {
      const [waiting, active, ...first] = await redis.epQueueCounts(...all);
      const since = first.flatMap((facts) => sinceOf(facts) ?? []);
      return { waiting, active, oldestAt: since.length > 0 ? Math.min(...since) : null };
    },
    async backlog(turn, places) {
      const [present, active, ...before] = await redis.epQueueBacklog(...all, turn, ...places);
      return { turn: present, active, before };
    },
    waiting: () => redis.zcard(keys.waiting),
    channel: (consumer) => `${keys.channels}${consumer}`,
  };
  return shard;
}

/** Parses a job that was sent to a consumer. */
export function readJob(message: string): PollJob | null {
  const [jobId, ...facts] = message.split(' ');
  return jobId ? pollJob(jobId, facts.join(' ')) : null;
}

const NOT_AWAITED = '-';

/** The facts stored with a job, other than its poll. */
export const factsOf = (tenant = '', awaitedBy = NOT_AWAITED): string => `${awaitedBy} ${tenant}`;

/** The stored facts begin with the time when the job was enqueued. They are empty if Redis lost them. */
function pollJob(jobId: string, facts: string): PollJob {
  const [, awaitedBy = NOT_AWAITED, ...rest] = facts.split(' ');
  return {
    jobId,
    pollId: jobId.replace(/\.\d+$/, ''),
    tenant: rest.join(' ') || undefined,
    awaitedBy: awaitedBy === NOT_AWAITED ? undefined : awaitedBy,
  };
}

function sinceOf(facts: string): number | null {
  const since = Number.parseInt(facts, 10);
  return Number.isSafeInteger(since) ? since : null;
}
