import { Failure } from '@eloquentpoll/launch/failure';
import { startPostgres } from './postgres.ts';
import type { ProcessGroup } from './process-group.ts';
import { startRedis } from './redis.ts';
import { runProgram } from './run-program.ts';
import { newSecret } from './secret.ts';

// Servers for one run, which are removed with it: the same as for `npm start`, but without waiting for the disk, or
// containers if TEST_SERVICES=containers.

export interface ThrowAwayServers extends AsyncDisposable {
  databaseUrl: string;
  redisUrl: string;
  summary: string;
}

export async function startThrowAwayServers(group: ProcessGroup, env: NodeJS.ProcessEnv): Promise<ThrowAwayServers> {
  const kind = env.TEST_SERVICES || 'embedded';
  if (kind === 'containers') return inContainers();
  if (kind !== 'embedded')
    throw new Failure(
      `TEST_SERVICES is "${kind}": use embedded (or leave it out), or containers where a Docker engine runs.`,
    );
  const [postgres, redis] = await Promise.all([
    startPostgres({ group, password: newSecret(), durable: false, stage: 5 }),
    startRedis({ group, password: newSecret(), durable: false, stage: 4, env }),
  ]);
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    summary: `Postgres ${postgres.version}, Redis ${redis.version}`,
    [Symbol.asyncDispose]: async () => {},
  };
}

async function inContainers(): Promise<ThrowAwayServers> {
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
