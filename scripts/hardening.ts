import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { report } from '@eloquentpoll/launch/failure';
import { root } from '@eloquentpoll/launch/folders';
import { createSteps, runStep } from '@eloquentpoll/launch/steps';
import { APPS, bundleApp } from './bundling/bundle-apps.ts';
import { findBubblewrap } from './hardening/bubblewrap.ts';
import { makeImageRoot } from './hardening/image-root.ts';

// `npm run hardening`: runs the whole product with every process in a sandbox like its container. It needs Linux and
// bubblewrap, which is downloaded if possible; otherwise it fails and says so.

const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-hardening-'));
try {
  chmodSync(folder, 0o755);
  const steps = createSteps(process.stdout);
  const bubblewrap = await runStep(steps, 'bubblewrap', 'finding', () => findBubblewrap(process.env));
  await runStep(steps, 'images', 'bundling', async () => {
    for (const app of APPS)
      await makeImageRoot(join(folder, app), join((await bundleApp(app, join(folder, 'dist'))).file, '..'));
  });
  const env = { ...process.env, HARDENING_BUBBLEWRAP: bubblewrap, HARDENING_IMAGES: folder };
  const args = [join(root, 'scripts/test.ts'), 'scripts/hardening/hardening.test.ts'];
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1;
} catch (error) {
  report(error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
