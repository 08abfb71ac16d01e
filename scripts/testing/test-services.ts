import { migrate } from '@eloquentpoll/storage';
import pg from 'pg';
import { Failure } from '../launch/failure.mjs';
import type { Household } from '../services/household.ts';
import { startPostgres } from '../services/postgres.ts';
import { startRedis } from '../services/redis.ts';
import { runProgram } from '../services/run-program.ts';
import { secret } from '../services/secrets.ts';

// The servers of one test run, gone with it: the same ones that `npm start` runs, without waiting for the disk, or
// containers when TEST_SERVICES=containers asks for them.

export interface TestServices extends AsyncDisposable {
  databaseUrl: string;
  redisUrl: string;
  summary: string;
}

export const TEMPLATE = 'template_eloquentpoll';

export async function startTestServices(household: Household, env: NodeJS.ProcessEnv): Promise<TestServices> {
  const kind = env.TEST_SERVICES || 'embedded';
  if (kind === 'containers') return inContainers();
  if (kind !== 'embedded')
    throw new Failure(
      `TEST_SERVICES is "${kind}": use embedded (or leave it out), or containers where a Docker engine runs.`,
    );
  const [postgres, redis] = await Promise.all([
    startPostgres({ household, password: secret(), durable: false, stage: 5 }),
    startRedis({ household, password: secret(), durable: false, stage: 4, env }),
  ]);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    summary: `Postgres ${postgres.version}, Redis ${redis.version}`,
    [Symbol.asyncDispose]: async () => {},
  };
}

async function inContainers(): Promise<TestServices> {
  const engine = await runProgram('docker', ['version', '--format', '{{.Server.Version}}'], {}, 10_000);
  if (!engine.ok)
    throw new Failure(
      'TEST_SERVICES=containers needs a Docker engine, and none answers: start it, or leave TEST_SERVICES out.',
    );
  const [{ PostgreSqlContainer }, { GenericContainer, Wait }] = await Promise.all([
    import('@testcontainers/postgresql'),
    import('testcontainers'),
  ]);
  await using started = new AsyncDisposableStack();
  const [postgres, redis] = await Promise.all([
    new PostgreSqlContainer('postgres:18-alpine')
      .withCommand(['postgres', '-c', 'max_connections=400', '-c', 'fsync=off'])
      .start(),
    new GenericContainer('valkey/valkey:8.1-alpine')
      .withExposedPorts(6379)
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start(),
  ]);
  started.use(postgres);
  started.use(redis);
  const owned = started.move();
  return {
    databaseUrl: postgres.getConnectionUri(),
    redisUrl: `redis://${redis.getHost()}:${redis.getMappedPort(6379)}`,
    summary: 'Postgres and Valkey in containers',
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The database that every test clones: empty and at the newest schema. */
export async function makeTemplate(databaseUrl: string): Promise<void> {
  await ask(databaseUrl, `create database ${TEMPLATE}`);
  const url = new URL(databaseUrl);
  url.pathname = `/${TEMPLATE}`;
  await migrate(url.href);
}

export async function ask<Row extends pg.QueryResultRow>(databaseUrl: string, query: string): Promise<Row[]> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: 10_000,
    query_timeout: 60_000,
  });
  await client.connect();
  try {
    return (await client.query<Row>(query)).rows;
  } finally {
    await client.end();
  }
}
