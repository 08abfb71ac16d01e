import calculateSlot from 'cluster-key-slot';
import { BEFORE_ALL, type FairPlace, placeInTurns } from './fair-place.ts';
import { factsOf, type QueueShard, type Taken, type WaitingJob, type Wish } from './queue-shard.ts';

// The queue of a lane holds poll ids, in shards. The poll itself is in Postgres, and the claim there decides who runs
// it, so a duplicate, late or needless job is harmless. Only one rule must hold: a running poll without a worker gets a
// job again. A poll's shard is derived from its id, so that enqueueing it twice changes nothing.

export interface QueueCounts {
  waiting: number;
  active: number;
  /** When the next job was enqueued. Null if none waits. */
  oldestAt: number | null;
}

/** The queue that a new poll would see. */
export interface Backlog {
  /** For each rank asked about, how many jobs are ahead of a new one with that rank. */
  before: number[];
  active: number;
}

export interface EnqueueOptions {
  /** Distinguishes the jobs of one poll, so that a job that died with its worker does not block the next. */
  round?: number;
  tenant?: string | undefined;
  /** Without a place, the poll is taken ahead of all that have one. */
  place?: FairPlace;
}

/** A poll and how it is enqueued. */
export interface Enqueued extends EnqueueOptions {
  pollId: string;
  /** The process that waits for the poll's end. */
  awaitedBy?: string | undefined;
}

export interface PollQueue {
  readonly shards: readonly QueueShard[];
  /**
   * One exchange with each shard; fails within two seconds while Redis is down. If a job with the poll's id and round
   * exists, waiting or with a worker, no other is made.
   */
  enqueue(polls: readonly Enqueued[]): Promise<void>;
  take(shard: QueueShard, wish: Wish): Promise<Taken>;
  /** The next jobs, in order. */
  head(limit: number): Promise<WaitingJob[]>;
  counts(): Promise<QueueCounts>;
  waiting(): Promise<number>;
  backlog(ranks: readonly number[]): Promise<Backlog>;
}

export function pollQueue(shards: readonly QueueShard[]): PollQueue {
  /** The newest turn that this process has seen in any shard. It keeps the turns of all shards in step. */
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
          // At worst the poll gets two jobs, when the sweep also adds it to its own shard later.
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

/** The results from the shards that answer, so that one master that is down does not hide the others. */
async function answered<T>(asked: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(asked);
  const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const [first] = settled;
  if (answers.length === 0 && first?.status === 'rejected') throw first.reason;
  return answers;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);
