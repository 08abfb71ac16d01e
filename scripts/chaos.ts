import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { main } from '@eloquentpoll/lab/chaos';
import { report } from './launch/failure.mjs';
import { requireSpace } from './launch/folders.mjs';
import { Household } from './services/household.ts';
import { startRestartable } from './services/restartable.ts';

// `npm run chaos`: experiments of the lab on servers of their own, which are gone with them.

const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-chaos-'));
try {
  chmodSync(folder, 0o755);
  requireSpace(folder, 500, 'an experiment');
  await using household = await Household.open(folder);
  household.temporary(folder);
  await using servers = new AsyncDisposableStack();
  process.exitCode = await main(process.argv.slice(2), async () =>
    servers.use(await startRestartable(household, process.env)),
  );
} catch (error) {
  report(error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
