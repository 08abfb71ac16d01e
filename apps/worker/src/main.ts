import { redactedSettings } from '@eloquentpoll/ops/settings';
import { type Config, readConfig } from './config.ts';
import { openContext } from './context.ts';
import { watchLedger } from './ops/ledger-watch.ts';
import { keepMonths } from './ops/months.ts';
import { openOps } from './ops/open-ops.ts';
import { keepSealing } from './ops/receipt-seals.ts';
import { keepRepeatingDeletions } from './ops/repeated-deletions.ts';
import { servePolls } from './serve-polls.ts';
import { WORKER_SETTINGS } from './settings-table.ts';
import { testModels } from './test-models.ts';
import { openWebhookDelivery } from './webhooks/open-delivery.ts';

// The process. On SIGTERM it stops being ready, takes no more polls, lets the running ones finish within the drain
// time, releases the rest to other workers and exits.

/** After the drain, the process exits within this time, even if something hangs. */
const SHUTDOWN_GRACE_MS = 5_000;

function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return failed(error);
  }
}

function failed(error: unknown): never {
  process.stderr.write(`worker: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

const config = settings();
const context = await openContext(config).catch(failed);
const { log } = context;
log.info({ settings: redactedSettings(WORKER_SETTINGS, process.env) }, 'settings.read');
const ops = await openOps(config, context).catch(failed);
const background = [
  watchLedger(config.databaseUrl, config.ledgerCheckMs, log),
  keepSealing(context.resources.storage, log),
  keepMonths(context.resources.storage, log),
  keepRepeatingDeletions(context.resources.storage, context.resources.redis, log),
  testModels(config, context),
  openWebhookDelivery(config, context),
];
const serving = servePolls(context, config);
await serving.ready();
ops?.began(serving);
const ready = { msg: 'ready', service: 'worker', worker_id: context.workerId, concurrency: config.concurrency };
process.stdout.write(`${JSON.stringify({ ...ready, ...(ops && { ops_url: ops.url }) })}\n`);

let stopping = false;
async function stop(signal: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log.info({ signal, polls: context.leases.size, within_ms: config.drainMs }, 'worker.drain_started');
  setTimeout(() => {
    log.warn('worker.drain_timed_out');
    process.exit(1);
  }, config.drainMs + SHUTDOWN_GRACE_MS).unref();
  ops?.readiness.drain();
  await Promise.all([serving.drain(config.drainMs), ...background.map((task) => task?.[Symbol.asyncDispose]())]);
  await ops?.[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
  log.info('worker.stopped');
  process.exit(0);
}
process.on('SIGTERM', (signal) => void stop(signal));
process.on('SIGINT', (signal) => void stop(signal));
