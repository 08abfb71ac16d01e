import { join } from 'node:path';
import { Failure } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { startPostgres } from '@eloquentpoll/services/postgres';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { startRedis } from '@eloquentpoll/services/redis';
import { runProgram } from '@eloquentpoll/services/run-program';
import { newSecret } from '@eloquentpoll/services/secret';
import type { StageOptions } from './stage.ts';

const BUNDLING_MS = 120_000;

/** Separate servers, and the product bundled as it is shipped. `durable`: commits of Postgres wait for the disk. */
export async function bundledStage(group: ProcessGroup, { durable }: { durable: boolean }): Promise<StageOptions> {
  const bundles = join(group.folder, 'bundles');
  const bundle = [join(root, 'scripts/bundle.ts'), '--into', bundles, 'gateway', 'worker'];
  const [postgres, redis, bundling] = await Promise.all([
    startPostgres({ group, password: newSecret(), durable, stage: 5 }),
    startRedis({ group, password: newSecret(), durable: true, stage: 4 }),
    runProgram(process.execPath, bundle, { cwd: root, env: process.env }, BUNDLING_MS),
  ]);
  if (!bundling.ok) throw new Failure('The product could not be bundled.', bundling.output.split('\n'));
  return { databaseUrl: postgres.url, redisUrl: redis.url, bundles, nodeOptions: process.env.BENCH_NODE_OPTIONS };
}
