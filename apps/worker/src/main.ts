import { type Config, readConfig } from './config.ts';
import { openContext } from './context.ts';
import { servePolls } from './serve-polls.ts';

// The process: reads its settings, says when it is ready, and on SIGTERM takes no further poll, lets the running ones
// finish within the drain time, hands the rest to other workers and leaves.

function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(2);
  }
}

const config = settings();
const context = await openContext(config).catch((error) => {
  process.stderr.write(`the worker could not start: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
});
const { log } = context;
const serving = servePolls(context, config.concurrency);
await serving.ready();
log.info({ workerId: context.workerId, concurrency: config.concurrency }, 'ready');

let leaving = false;
async function leave(signal: string): Promise<void> {
  if (leaving) return;
  leaving = true;
  log.info({ signal, polls: context.leases.size }, 'draining');
  await serving.drain(config.drainMs);
  await context[Symbol.asyncDispose]();
  log.info('stopped');
  process.exit(0);
}
process.on('SIGTERM', (signal) => void leave(signal));
process.on('SIGINT', (signal) => void leave(signal));
