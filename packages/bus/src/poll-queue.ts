import calculateSlot from 'cluster-key-slot';
import { BEFORE_ALL, type FairPlace, placeInTurns } from './fair-place.ts';
import { factsOf, type QueueShard, type Taken, type WaitingJob, type Wish } from './queue-shard.ts';

// The queue of a lane carries ids, in shards. The row in Postgres holds the poll, and claiming it there decides who runs it;
// a job that comes twice, late or for nothing is harmless. Only this must hold: a running poll without a worker gets a job
// again. A poll's shard follows from its id, so that repeating it changes nothing.

export interface QueueCounts {
  waiting: number;
  active: number;
  /** Since when the job that is taken next has been there; null when none waits. */
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
  /** The process that waits for its end. */
  awaitedBy?: string | undefined;
}

export interface PollQueue {
  readonly shards: readonly QueueShard[];
  /**
   * In one exchange with each shard; fails within two seconds when Redis is away. While there is a job with the id and
   * round of a poll, waiting or with a worker, another is not made.
   */
  enqueue(polls: readonly Enqueued[]): Promise<void>;
  take(shard: QueueShard, wish: Wish): Promise<Taken>;
  /** The jobs that are taken next, in order. */
  head(limit: number): Promise<WaitingJob[]>;
  counts(): Promise<QueueCounts>;
  waiting(): Promise<number>;
  backlog(ranks: readonly number[]): Promise<Backlog>;
}

export function pollQueue(shards: readonly QueueShard[]): PollQueue {
  /** As this process knows it from all shards: by it turns mean the same in each of them. */
  let turn = 0;
  const heard = (present: number): void => {
    turn = Math.max(turn, present);
  };

  async function add(shard: number, polls: readonly Enqueued[]): Promise<void> {
    heard(await shards[shard]!.add(turn, polls.flatMap(argumentsOf)));
  }

  return {
    shards,
    async enqueue(polls) {
      const byShard = Map.groupBy(polls, ({ pollId }) => calculateSlot(pollId) % shards.length);
      const adding = [...byShard].map(([shard, own]) =>
        add(shard, own).catch((error) => {
          if (shards.length === 1) throw error;
          // At worst a poll has two jobs: the sweep adds it to its own shard later.
          return add((shard + 1) % shards.length, own);
        }),
      );
      await Promise.all(adding);
    },
    async take(shard, wish) {
      const taken = await shard.take(turn, wish);
      heard(taken.turn);
      return taken;
    },
    async head(limit) {
      const each = Math.ceil(limit / shards.length);
      const heads = await answered(shards.map((shard) => shard.head(each)));
      return heads.flat().toSorted((a, b) => a.score - b.score);
    },
    async counts() {
      const counts = await answered(shards.map((shard) => shard.counts()));
      const since = counts.flatMap(({ oldestAt }) => oldestAt ?? []);
      return {
        waiting: sum(counts.map(({ waiting }) => waiting)),
        active: sum(counts.map(({ active }) => active)),
        oldestAt: since.length > 0 ? Math.min(...since) : null,
      };
    },
    waiting: async () => sum(await answered(shards.map((shard) => shard.waiting()))),
    async backlog(ranks) {
      const places = ranks.map((rank) => placeInTurns({ rank, isAwaited: false }));
      const found = await answered(shards.map((shard) => shard.backlog(turn, places)));
      for (const { turn: present } of found) heard(present);
      return {
        before: ranks.map((_, i) => sum(found.map(({ before }) => before[i] ?? 0))),
        active: sum(found.map(({ active }) => active)),
      };
    },
  };
}

const argumentsOf = ({ pollId, round = 0, tenant, awaitedBy, place }: Enqueued): (string | number)[] => [
  round === 0 ? pollId : `${pollId}.${round}`,
  factsOf(tenant, awaitedBy),
  place ? placeInTurns(place) : BEFORE_ALL,
];

/** Of those that answer: one master that is away does not hide the shards of the others. */
async function answered<T>(asked: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [first] = settled;
  if (answers.length === 0 && first?.status === 'rejected') throw first.reason;
  return answers;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);
