import { postgresUrls } from '@eloquentpoll/ops/postgres-address';
import pg from 'pg';

// Which of several servers is the primary. All are asked at once; of two that take writes it is the one that was promoted
// last, so that an old primary that comes back by itself is not taken.

const ASK_MS = 1_000;
/** However many connections fail, the servers are asked once in this time. */
const MAX_AGE_MS = 250;

export interface PrimaryFinder {
  /** Of the server that was the primary when it was last looked for; the first one before that. */
  readonly url: string;
  /** Looks for it, the first time that this is called. */
  readonly found: Promise<void>;
  /** Looks again; whether it is another than `tried`. */
  movedFrom(tried: string): Promise<boolean>;
}

/** Null for an address of one server, which is used as it is. */
export function primaryFinder(databaseUrl: string): PrimaryFinder | null {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  if (urls.length === 1) return null;
  let url = urls[0]!;
  let latest: Promise<void> | null = null;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    url = (await newestPrimary(urls)) ?? url;
    lookedAt = performance.now();
    latest = null;
  }

  let first: Promise<void> | undefined;
  return {
    get url() {
      return url;
    },
    get found() {
      first ??= look();
      return first;
    },
    async movedFrom(tried) {
      if (url === tried && (latest || performance.now() - lookedAt > MAX_AGE_MS)) {
        latest ??= look();
        await latest;
      }
      return url !== tried;
    },
  };
}

/** The address of one server, for who makes a single connection: that of the primary where it can be found. */
export async function primaryUrl(databaseUrl: string): Promise<string> {
  const urls = postgresUrls(databaseUrl) ?? [databaseUrl];
  return urls.length === 1 ? urls[0]! : ((await newestPrimary(urls)) ?? urls[0]!);
}

async function newestPrimary(urls: readonly string[]): Promise<string | null> {
  const timelines = await Promise.all(urls.map((url) => timelineOf(url).catch(() => null)));
  const newest = Math.max(...timelines.map((timeline) => timeline ?? 0));
  return newest === 0 ? null : urls[timelines.indexOf(newest)]!;
}

/** How often its history was forked by a promotion, from 1; null for a standby. */
async function timelineOf(url: string): Promise<number | null> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: ASK_MS, query_timeout: ASK_MS });
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
