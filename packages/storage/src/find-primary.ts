import { Socket } from 'node:net';
import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import pg from 'pg';

// Finds the primary among several servers by asking all of them at once. If two accept writes, the one promoted last is
// the primary, so an old primary that comes back on its own is not chosen. The promoted server may have been too slow
// to answer, so all are asked again as long as the process lives; it never goes back from a newer timeline to an older.

const ASK_MS = 1_000;
/**
 * At first nothing is known of any server, and a starting process may be too busy to receive an answer within a second.
 */
const ASK_FIRST_MS = 5_000;
/** However many connections fail, the servers are asked at most once in this time. */
const MAX_AGE_MS = 250;
/** No caller waits for this check, so a slow server gets more time to answer. */
const WATCH = { everyMs: 2_000, askMs: 5_000 };
const LEAVE_MS = 1_000;
const SAY_EVERY_MS = 60_000;

/** A primary's WAL file; its name begins with the timeline, which counts promotions from 1. Null for a standby. */
export const TIMELINE = `case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end`;
export const timelineIn = (walFile: string | null): number | null =>
  walFile === null ? null : Number.parseInt(walFile.slice(0, 8), 16);

export interface PrimaryFinder extends Disposable {
  /** The server that was the primary at the last check; before the first check, the first address. */
  readonly url: string;
  /** The first access starts the search. */
  readonly found: Promise<void>;
  /** Asks again; true if the primary is another server than `tried`. */
  movedFrom(tried: string): Promise<boolean>;
  /** To be called for a new connection to a server of this timeline; false if a newer timeline is known. */
  connected(client: pg.ClientBase, timeline: number): boolean;
  /** False if a newer timeline was found after the connection was made. */
  isServing(client: pg.ClientBase): boolean;
}

interface Primary {
  readonly url: string;
  readonly timeline: number;
}

/** Null if there is only one address, which is used as it is. `onOlder`: only an older timeline accepts writes. */
export function primaryFinder(databaseUrl: string, onOlder: () => void = () => {}): PrimaryFinder | null {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  if (urls.length === 1) return null;
  let primary: Primary = { url: urls[0]!, timeline: 0 };
  let latest: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let saidAt = Number.NEGATIVE_INFINITY;
  const timelines = new WeakMap<pg.ClientBase, number>();

  /** With two servers of the same timeline the present one stays, unless a connection to it has just failed. */
  async function look(askMs: number, hasFailed: boolean): Promise<void> {
    const found = await primariesOf(urls, askMs);
    const newest = youngest(found, primary.url);
    if (!newest) return;
    if (newest.timeline < primary.timeline) return sayOlder();
    if (newest.timeline > primary.timeline || hasFailed) primary = newest;
  }

  function sayOlder(): void {
    if (performance.now() - saidAt < SAY_EVERY_MS) return;
    saidAt = performance.now();
    onOlder();
  }

  async function lookNow(askMs = ASK_MS): Promise<void> {
    await look(askMs, true);
    lookedAt = performance.now();
    latest = null;
  }

  let first: Promise<void> | undefined;
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;
  function watchOn(): void {
    if (!isOver) watch = setTimeout(() => void look(WATCH.askMs, false).then(watchOn), WATCH.everyMs).unref();
  }
  return {
    get url() {
      return primary.url;
    },
    get found() {
      if (!first) {
        first = lookNow(ASK_FIRST_MS);
        watchOn();
      }
      return first;
    },
    async movedFrom(tried) {
      if (primary.url === tried && (latest || performance.now() - lookedAt > MAX_AGE_MS)) {
        latest ??= lookNow();
        await latest;
      }
      return primary.url !== tried;
    },
    connected(client, timeline) {
      timelines.set(client, timeline);
      // A host name may resolve to another server than before.
      if (timeline > primary.timeline) primary = { ...primary, timeline };
      return timeline >= primary.timeline;
    },
    isServing: (client) => (timelines.get(client) ?? 0) >= primary.timeline,
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(watch);
    },
  };
}

/** The address for a process that makes a single connection: the primary's, if it can be found. */
export async function primaryUrl(databaseUrl: string): Promise<string> {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  return urls.length === 1 ? urls[0]! : (youngest(await primariesOf(urls, ASK_FIRST_MS))?.url ?? urls[0]!);
}

function youngest(primaries: readonly Primary[], present?: string): Primary | undefined {
  const newest = Math.max(...primaries.map(({ timeline }) => timeline));
  const all = primaries.filter(({ timeline }) => timeline === newest);
  return all.find(({ url }) => url === present) ?? all[0];
}

/** All servers that accept writes. */
async function primariesOf(urls: readonly string[], askMs: number): Promise<Primary[]> {
  const timelines = await Promise.all(urls.map((url) => timelineOf(url, askMs).catch(() => null)));
  return urls.flatMap((url, i) => (timelines[i] ? [{ url, timeline: timelines[i] }] : []));
}

async function timelineOf(url: string, askMs: number): Promise<number | null> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: askMs,
    query_timeout: askMs,
    stream: () => socket,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ file: string | null }>(`select ${TIMELINE} as file`);
    return timelineIn(rows[0]!.file);
  } finally {
    // A server that has just stopped never closes its side.
    client.end().catch(() => {});
    setTimeout(() => socket.destroy(), LEAVE_MS).unref();
  }
}
