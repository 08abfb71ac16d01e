import { dataFolder, root } from '@eloquentpoll/launch/folders';
import { INSPECT_PORTS, restartingApps } from './dev/restarting-app.ts';
import { seedPolls } from './dev/seed-polls.ts';
import { watchSources } from './dev/watch-sources.ts';
import type { Product } from './start/product.ts';
import { start } from './start.ts';

// `npm run dev`: `npm start` for work on the code. Postgres and Redis stay up; gateway, worker, simulator and identity
// provider restart when a file changes that they depend on, and can be debugged.

const WELCOME = [
  `  Change a file under apps/ or packages/: what depends on it restarts.`,
  `  Debugger  ${Object.entries(INSPECT_PORTS)
    .map(([name, port]) => `${name} at 127.0.0.1:${port}`)
    .join(', ')} (VS Code: "Attach to gateway", "Attach to worker")`,
  `  Database  npm run db`,
  `  Logs      .data/logs`,
  '',
].join('\n');

async function whenReady(product: Product, show: (line: string) => void): Promise<void> {
  show(WELCOME);
  try {
    const asked = await seedPolls(product);
    if (asked > 0) show(`  ✓ seed         ${asked} polls with results and feedback on the local account`);
  } catch (error) {
    show(`  ! seed         ${error instanceof Error ? error.message : error}`);
  }
}

using sources = watchSources(root);
const options = { env: process.env, folder: dataFolder, json: false, startApp: restartingApps(sources), whenReady };
process.exit(await start(options));
