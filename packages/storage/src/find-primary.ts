import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import pg from 'pg';

// Which of several servers is the primary. All are asked at once; of two that take writes it is the one that was promoted
// last, so that an old primary that comes back by itself is not taken. Where the promoted one was too slow to answer, the
// old one may have been: so all are asked again, as long as the process lives, and a server with a younger history is never
// left for one with an older.

const ASK_MS = 1_000;
/** However many connections fail, the servers are asked once in this time. */
const MAX_AGE_MS = 250;
/** No caller waits for this look, so a slow server gets more time to answer. */
const WATCH = { everyMs: 2_000, askMs: 5_000 };

export interface PrimaryFinder extends Disposable {
  /** Of the server that was the primary when it was last looked for; the first one before that. */
  readonly url: string;
  /** Looks for it, the first time that this is called. */
  readonly found: Promise<void>;
  /** Looks again; whether it is another than `tried`. */
  movedFrom(tried: string): Promise<boolean>;
  /** Whether a connection leads to it: not one that was opened before it was found. */
  isServing(client: pg.ClientBase): boolean;
}

interface Primary {
  readonly url: string;
  /** How often its history was forked by a promotion, from 1. */
  readonly timeline: number;
}

/** Null for an address of one server, which is used as it is. */
export function primaryFinder(databaseUrl: string): PrimaryFinder | null {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  if (urls.length === 1) return null;
  let primary: Primary = { url: urls[0]!, timeline: 0 };
  let address = addressOf(primary.url);
  let latest: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function look(askMs: number): Promise<void> {
    const newest = await newestPrimary(urls, askMs);
    if (!newest || newest.timeline < primary.timeline) return;
    primary = newest;
    address = addressOf(newest.url);
  }

  async function lookNow(): Promise<void> {
    await look(ASK_MS);
    lookedAt = performance.now();
    latest = null;
  }

  let first: Promise<void> | undefined;
  let watch: NodeJS.Timeout | undefined;
  let isOver = false;
  function watchOn(): void {
    if (!isOver) watch = setTimeout(() => void look(WATCH.askMs).then(watchOn), WATCH.everyMs).unref();
  }
  return {
    get url() {
      return primary.url;
    },
    get found() {
      if (!first) {
        first = lookNow();
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
    isServing(client) {
      const { host, port } = client as pg.Client;
      return host === address.host && port === address.port;
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(watch);
    },
  };
}

/** The address of one server, for who makes a single connection: that of the primary where it can be found. */
export async function primaryUrl(databaseUrl: string): Promise<string> {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  return urls.length === 1 ? urls[0]! : ((await newestPrimary(urls, ASK_MS))?.url ?? urls[0]!);
}

/** As a connection to it says it. */
const addressOf = (url: string): Pick<pg.Client, 'host' | 'port'> => new pg.Client({ connectionString: url });

async function newestPrimary(urls: readonly string[], askMs: number): Promise<Primary | null> {
  const timelines = await Promise.all(urls.map((url) => timelineOf(url, askMs).catch(() => null)));
  const newest = Math.max(...timelines.map((timeline) => timeline ?? 0));
  return newest === 0 ? null : { url: urls[timelines.indexOf(newest)]!, timeline: newest };
}

/** Null for a standby. */
async function timelineOf(url: string, askMs: number): Promise<number | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: askMs, query_timeout: askMs });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ file: string | null }>(
      'select case when not pg_is_in_recovery() then pg_walfile_name(pg_current_wal_lsn()) end as file',
    );
    const file = rows[0]?.file;
    return file ? Number.parseInt(file.slice(0, 8), 16) : null;
  } finally {
    await client.end().catch(() => {});
  }
}
