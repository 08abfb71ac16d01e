import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { APPS, bundleApp } from './bundling/bundle-apps.ts';
import { report } from './launch/failure.mjs';
import { requireSpace, root } from './launch/folders.mjs';
import { createSteps, runStep } from './launch/steps.mjs';
import { Household } from './services/household.ts';
import { startPostgres } from './services/postgres.ts';
import { startRedis } from './services/redis.ts';
import { secret } from './services/secrets.ts';
import { stopRequest } from './start/stop-request.ts';

// `npm run bench [-- OPTIONS]`: servers of its own, the product as it is shipped, and packages/lab/src/bench
// between them. What it says on standard output is the bench's alone.

const steps = createSteps(process.stderr);
const stop = stopRequest();
// Disks of shared machines say more about their neighbours than about us; what a commit costs here is told in any case.
const durable = process.argv.includes('--durable');
const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-bench-'));
try {
  chmodSync(folder, 0o755);
  requireSpace(folder, 500, 'a bench');
  await using household = await Household.open(folder);
  household.temporary(folder);
  const env = process.env;
  const [postgres, redis] = await runStep(steps, 'services', 'starting', () =>
    Promise.all([
      startPostgres({ household, password: secret(), durable, stage: 5 }),
      startRedis({ household, password: secret(), durable: true, stage: 4, env }),
    ]),
  );
  const bundles = join(folder, 'bundles');
  await runStep(steps, 'bundles', 'gateway and worker', async () => {
    for (const app of APPS) if (app !== 'simulator') await bundleApp(app, bundles);
  });
  const bench = household.start({
    name: 'bench',
    file: process.execPath,
    args: [join(root, 'packages/lab/src/bench/main.ts'), ...process.argv.slice(2)],
    env: { ...env, DATABASE_URL: postgres.url, REDIS_URL: redis.url, BUNDLES: bundles },
    stage: 0,
    patience_ms: 15_000,
    onLine: (line, stream) => process[stream].write(`${line}\n`),
  });
  const ended = await Promise.race([bench.ended, stop.requested]);
  if (ended === 'stop') await household.stop();
  process.exitCode = ended === 'ended with code 0' ? 0 : 1;
} catch (error) {
  report(error, process.stderr);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
