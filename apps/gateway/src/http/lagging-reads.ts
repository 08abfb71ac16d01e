import type { Bus } from '@eloquentpoll/bus';
import type { Metrics } from '@eloquentpoll/ops';
import type { PrimaryReason, Queries, Replica } from '@eloquentpoll/storage';
import type { FastifyReply } from 'fastify';

// Reads that tolerate a short lag: lists, usage, exports, public figures. If there is a replica they go there, unless
// the account's latest writes may be missing from it; the answer then states its possible lag.

/** Without this header an answer is up to date. */
export const LAG_HEADER = {
  'replica-lag': {
    type: 'number',
    description: 'How many seconds the data may be old, if it was read from a replica of the database.',
  },
};

/** What answered: the replica, or the primary and the reason. */
export const READ_FROM = ['replica', 'lag', 'own_write', 'away', 'not_found'] as const satisfies readonly (
  | 'replica'
  | PrimaryReason
)[];

type Read<T> = (queries: Queries) => Promise<T>;

export interface LaggingReads {
  /** Reads an account's own data. If the replica returns null, asks the primary. Only the replica sets the header. */
  ofAccount<T>(accountId: string, read: Read<T>, reply?: FastifyReply): Promise<T>;
  /** Reads data that belongs to no account. */
  ofAll<T>(read: Read<T>): Promise<T>;
  /** From here on the lists of all gateways include what the account has written. */
  noteWrite(accountId: string): void;
  /** Null when there is no replica. */
  readonly replica: Replica | null;
}

export interface LaggingReadsOptions {
  replica: Replica;
  bus: Pick<Bus, 'redis' | 'prefix'>;
  metrics: Metrics;
}

/** Added to the replica's maximum lag, because another gateway may start counting a little later. */
const MARGIN_MS = 2_000;
const MAX_KNOWN = 10_000;

/** For installations without a replica. */
export const directReads = (storage: Queries): LaggingReads => ({
  ofAccount: (_accountId, read) => read(storage),
  ofAll: (read) => read(storage),
  noteWrite() {},
  replica: null,
});

export function laggingReads({ replica, bus, metrics }: LaggingReadsOptions): LaggingReads {
  const { redis, prefix } = bus;
  const keptMs = replica.maxLagMs + MARGIN_MS;
  /** Writes by account at this gateway, which are also known while Redis is away. */
  const known = new Map<string, number>();
  const keyOf = (accountId: string) => `${prefix}:wrote:{${accountId}}`;

  /** When the account last wrote, at any gateway; the current time while that is unknown. */
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
