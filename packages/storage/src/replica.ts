import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { isStorageError } from './errors.ts';
import { TIMELINE, timelineIn } from './find-primary.ts';
import { openStorage, type Queries, type Storage } from './open-storage.ts';

// A replica for reads that tolerate a little lag. The lag is measured by log positions: each second the primary is
// asked for its position and the replica for the position that it has replayed. If either stands still, that counts as
// lag, and no server's clock is trusted. Positions mean something only within one history: after a failover, a replica
// may still follow the old primary. On any problem the primary answers until the replica has recovered.

export interface ReplicaOptions {
  primary: Storage;
  replicaUrl: string;
  /** The maximum lag of a read. */
  maxLagMs: number;
  maxConnections?: number;
  applicationName?: string;
  /** Called with each new state of the replica. */
  onState?: (state: ReplicaState) => void;
}

export type ReplicaState = 'used' | 'lags' | 'away' | 'no replica';

/** Why the primary answered a read that tolerates lag. */
export type PrimaryReason = 'lag' | 'own_write' | 'away' | 'not_found';

export interface ReplicaRead<T> {
  value: T;
  /** How far behind the answer may be; null if the primary answered. */
  lagMs: number | null;
  reason: PrimaryReason | null;
}

export interface Replica extends AsyncDisposable {
  /**
   * Reads from the replica. Reads from the primary if the replica lags, failed, answered null, or may not have what was
   * written at `since` (by this machine's clock). `read` may run twice.
   */
  read<T>(read: (queries: Queries) => Promise<T>, since?: number): Promise<ReplicaRead<T>>;
  readonly state: ReplicaState;
  readonly maxLagMs: number;
  /** Null before the replica's first answer. */
  lagMs(): number | null;
}

const LOOK_EVERY_MS = 1_000;
/** Reads on the replica are short; longer ones are better made elsewhere. */
const STATEMENT_MS = 2_000;
/** A replica that takes longer to report its position is too slow for anything else. */
const SLOW_MS = 500;
/** How long the replica is not used after a failed read. */
const REST_MS = 3_000;
/** Maximum difference between the clocks of two gateways. */
const CLOCKS_MS = 500;
const MAX_POSITIONS = 120;

interface Moment {
  /** By the clock of the machine, which other gateways have too, and which may be set back. */
  at: number;
  /** By a clock that never goes back. */
  tick: number;
}

interface Position extends Moment {
  lsn: bigint;
}

interface Reached {
  isPrimary: boolean;
  lsn: bigint;
  /** Differs between two clusters, and between a server that was promoted and those that do not follow it. */
  history: string;
}

export function openReplica(options: ReplicaOptions): Replica {
  const { primary, maxLagMs } = options;
  const replica = openStorage({
    databaseUrl: options.replicaUrl,
    maxConnections: options.maxConnections ?? 10,
    applicationName: options.applicationName ?? 'eloquentpoll',
    statementTimeoutMs: STATEMENT_MS,
    // The primary answers instead, so there is no retry.
    askAgainForMs: 0,
  });
  /** Positions of the primary, oldest first. */
  let positions: Position[] = [];
  /** The replica has everything that was committed before this time. */
  let hasUntil: Moment | null = null;
  let state: ReplicaState = 'away';
  let restsUntil = Number.NEGATIVE_INFINITY;
  const closing = new AbortController();

  function become(next: ReplicaState): void {
    if (next === state) return;
    state = next;
    options.onState?.(state);
  }

  async function look(): Promise<void> {
    const now = { at: Date.now(), tick: performance.now() };
    // Without a position of the primary the replica's lag just grows.
    const current = await positionOf(primary).catch(() => null);
    if (current?.isPrimary) positions = [...positions, { ...now, lsn: current.lsn }].slice(-MAX_POSITIONS);
    const asked = performance.now();
    const replayed = await positionOf(replica).catch(() => null);
    if (!replayed || performance.now() - asked > SLOW_MS) return become('away');
    if (replayed.isPrimary) return become('no replica');
    if (current && (isElsewhere(current, replayed) || (await isAheadOf(current, replayed)))) {
      positions = [];
      hasUntil = null;
    }
    const had = positions.findLast(({ lsn }) => lsn <= replayed.lsn);
    if (had) hasUntil = had;
    positions = positions.filter(({ tick }) => had === undefined || tick >= had.tick);
    become(isFresh() ? 'used' : 'lags');
  }

  /**
   * A replica has nothing that its primary has not written. One that has was ahead of the server that was promoted, and
   * shows what was lost in the failover; it follows again when it was made anew.
   */
  async function isAheadOf(current: Reached, replayed: Reached): Promise<boolean> {
    if (replayed.lsn <= current.lsn) return false;
    const now = await positionOf(primary).catch(() => null);
    return now !== null && now.lsn < replayed.lsn;
  }

  /** By the clock that has gone further: one may be set back, the other may stand still with the machine. */
  const lagMs = () =>
    hasUntil === null ? null : Math.max(Date.now() - hasUntil.at, performance.now() - hasUntil.tick);
  const isFresh = () => (lagMs() ?? Number.POSITIVE_INFINITY) <= maxLagMs;

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await look();
      await sleep(LOOK_EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }
  const watching = watch();

  /** Null if the replica may be used. */
  function reasonAgainst(since: number | undefined): PrimaryReason | null {
    if (state === 'away' || state === 'no replica' || performance.now() < restsUntil) return 'away';
    if (!isFresh()) return 'lag';
    return since !== undefined && since + CLOCKS_MS > hasUntil!.at ? 'own_write' : null;
  }

  return {
    get state() {
      return state;
    },
    maxLagMs,
    lagMs,
    async read(read, since) {
      let reason = reasonAgainst(since);
      if (reason === null) {
        const lag = lagMs();
        try {
          const value = await read(replica);
          if (value !== null) return { value, lagMs: lag, reason };
          reason = 'not_found';
        } catch (error) {
          if (!isStorageError(error)) throw error;
          reason = 'away';
          restsUntil = performance.now() + REST_MS;
        }
      }
      return { value: await read(primary), lagMs: null, reason };
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await watching;
      await replica[Symbol.asyncDispose]();
    },
  };
}

const isElsewhere = (current: Reached, replayed: Reached): boolean =>
  current.isPrimary && replayed.history !== current.history;

/**
 * A standby does not say which timeline it replays, but its control file has one that it has reached: since its last
 * restart point, or since it last wrote pages to the disk. So a replica that follows a promoted server is used again
 * only after that, and one that does not follow it never is.
 */
async function positionOf({ db }: Queries): Promise<Reached> {
  const { rows } = await sql<{
    is_primary: boolean;
    lsn: bigint;
    file: string | null;
    reached: number;
    system: bigint;
  }>`
    select not pg_is_in_recovery() as is_primary,
           (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end
             - '0/0'::pg_lsn)::bigint as lsn,
           ${sql.raw(TIMELINE)} as file,
           greatest(point.timeline_id, recovery.min_recovery_end_timeline) as reached,
           system.system_identifier as system
      from pg_control_checkpoint() point, pg_control_recovery() recovery, pg_control_system() system`.execute(db);
  const { is_primary: isPrimary, lsn, file, reached, system } = rows[0]!;
  return { isPrimary, lsn, history: `${system} ${timelineIn(file) ?? reached}` };
}
