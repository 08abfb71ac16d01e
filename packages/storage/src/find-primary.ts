import { Socket } from 'node:net';
import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import pg from 'pg';

// Which of several servers is the primary. All are asked at once; of two that take writes it is the one that was promoted
// last, so that an old primary that comes back by itself is not taken. Where the promoted one was too slow to answer, the
// old one may have been: so all are asked again, as long as the process lives, and a server with a younger history is never
// left for one with an older.

const ASK_MS = 1_000;
/** At first nothing is known of any server, and a process that starts may itself be too busy to hear an answer in a second. */
const ASK_FIRST_MS = 5_000;
/** However many connections fail, the servers are asked once in this time. */
const MAX_AGE_MS = 250;
/** No caller waits for this look, so a slow server gets more time to answer. */
const WATCH = { everyMs: 2_000, askMs: 5_000 };
const LEAVE_MS = 1_000;
const SAY_EVERY_MS = 60_000;

/** How often the history of a server was forked by a promotion, from 1; null of a standby. */
export const TIMELINE = `case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end`;
export const timelineIn = (walFile: string | null): number | null =>
  walFile === null ? null : Number.parseInt(walFile.slice(0, 8), 16);

export interface PrimaryFinder extends Disposable {
  /** Of the server that was the primary when it was last looked for; the first one before that. */
  readonly url: string;
  /** Looks for it, the first time that this is called. */
  readonly found: Promise<void>;
  /** Looks again; whether it is another than `tried`. */
  movedFrom(tried: string): Promise<boolean>;
  /** Hears of a new connection to a server of this timeline; false where a younger history is known. */
  connected(client: pg.ClientBase, timeline: number): boolean;
  /** Whether no younger history has been found since a connection was made. */
  isServing(client: pg.ClientBase): boolean;
}

interface Primary {
  readonly url: string;
  readonly timeline: number;
}

/** Null for an address of one server, which is used as it is. `onOlder` hears that only an older history takes writes. */
export function primaryFinder(databaseUrl: string, onOlder: () => void = () => {}): PrimaryFinder | null {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  if (urls.length === 1) return null;
  let primary: Primary = { url: urls[0]!, timeline: 0 };
  let latest: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let saidAt = Number.NEGATIVE_INFINITY;
  const timelines = new WeakMap<pg.ClientBase, number>();

  /** Of two servers of one history the one in use stays, unless a connection to it has just failed. */
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
      // A name may lead to another server than before.
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

/** The address of one server, for who makes a single connection: that of the primary where it can be found. */
export async function primaryUrl(databaseUrl: string): Promise<string> {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  return urls.length === 1 ? urls[0]! : (youngest(await primariesOf(urls, ASK_FIRST_MS))?.url ?? urls[0]!);
}

function youngest(primaries: readonly Primary[], present?: string): Primary | undefined {
  const newest = Math.max(...primaries.map(({ timeline }) => timeline));
  const all = primaries.filter(({ timeline }) => timeline === newest);
  return all.find(({ url }) => url === present) ?? all[0];
}

/** All servers that take writes. */
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
    // A server that stopped just now never closes its side.
    client.end().catch(() => {});
    setTimeout(() => socket.destroy(), LEAVE_MS).unref();
  }
}
