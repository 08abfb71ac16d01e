import type { Bus } from '@eloquentpoll/bus';
import type { Metrics } from '@eloquentpoll/ops';
import type { PrimaryReason, Queries, Replica } from '@eloquentpoll/storage';
import type { FastifyReply } from 'fastify';

// Reads that bear a little lag: lists, usage, exports, figures of everybody. With a replica they go there, unless the account
// has just written something that is not there yet; the answer then says how old it may be.

/** Without it an answer is of this moment. */
export const LAG_HEADER = {
  'replica-lag': {
    type: 'number',
    description: 'Seconds that this answer may be behind, when a replica of the database gave it.',
  },
};

/** What may have answered: the replica, or the primary and why. */
export const READ_FROM = ['replica', 'lag', 'own_write', 'away', 'not_found'] as const satisfies readonly (
  | 'replica'
  | PrimaryReason
)[];

type Read<T> = (queries: Queries) => Promise<T>;

export interface LaggingReads {
  /** Of the account's own data; null is asked of the primary again. The header is set where the replica answered. */
  ofAccount<T>(accountId: string, read: Read<T>, reply?: FastifyReply): Promise<T>;
  /** Of what belongs to no account. */
  ofAll<T>(read: Read<T>): Promise<T>;
  /** Every gateway's lists have what the account has written by now. */
  noteWrite(accountId: string): void;
  /** Null where there is none. */
  readonly replica: Replica | null;
}

export interface LaggingReadsOptions {
  replica: Replica;
  bus: Pick<Bus, 'redis' | 'prefix'>;
  metrics: Metrics;
}

/** Longer than the replica may lag: another gateway may count from a moment later. */
const MARGIN_MS = 2_000;
const MAX_KNOWN = 10_000;

/** Where there is no replica. */
export const directReads = (storage: Queries): LaggingReads => ({
  ofAccount: (_accountId, read) => read(storage),
  ofAll: (read) => read(storage),
  noteWrite() {},
  replica: null,
});

export function laggingReads({ replica, bus, metrics }: LaggingReadsOptions): LaggingReads {
  const { redis, prefix } = bus;
  const keptMs = replica.maxLagMs + MARGIN_MS;
  /** By account, of this gateway: true also while Redis is away. */
  const known = new Map<string, number>();
  const keyOf = (accountId: string) => `${prefix}:wrote:{${accountId}}`;

  /** When the account last wrote, here or elsewhere; just now where that is not known. */
  async function lastWrite(accountId: string): Promise<number | undefined> {
    const here = known.get(accountId);
    const elsewhere = await redis.get(keyOf(accountId)).catch(() => String(Date.now()));
    if (elsewhere === null) return here;
    return Math.max(here ?? 0, Number(elsewhere));
  }

  async function answer<T>(read: Read<T>, since: number | undefined, reply?: FastifyReply): Promise<T> {
    const { value, lagMs, reason } = await replica.read(read, since);
    metrics.counter('eloquentpoll_lagging_reads_total', reason ?? 'replica').n += 1;
    if (lagMs !== null) reply?.header('replica-lag', Math.ceil(lagMs / 100) / 10);
    return value;
  }

  return {
    replica,
    ofAccount: async (accountId, read, reply) => answer(read, await lastWrite(accountId), reply),
    ofAll: (read) => answer(read, undefined),
    noteWrite(accountId) {
      const now = Date.now();
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(accountId, now);
      redis.set(keyOf(accountId), now, 'PX', keptMs).catch(() => {});
    },
  };
}
