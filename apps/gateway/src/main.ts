import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { FreePollRequest, PollRequest, ShortPollRequest } from '@eloquentpoll/contracts';
import { redactedSettings, SettingError } from '@eloquentpoll/ops/settings';
import { buildApp } from './app.ts';
import { keepBatchesRunning } from './batches/run/keep-batches-running.ts';
import { type Config, readConfig } from './config/config.ts';
import { GATEWAY_SETTINGS } from './config/settings-table.ts';
import { openContext } from './context.ts';
import { compileAhead } from './http/validation/validator.ts';
import { startHeartbeat } from './operators/heartbeat.ts';
import { openOps } from './operators/open-ops.ts';
import { startReconciler } from './payments/reconciler.ts';

// The gateway process: settings, connections, listening. On SIGTERM it stops being ready, then accepts no connections
// and finishes requests in flight; those that still wait for a poll get a 503, and the process exits in time.

/** So long before the end of the drain, waiting requests get a 503. Remaining connections are cut after half of it. */
const SHUTDOWN_GRACE_MS = 3_000;

function fail(error: unknown): never {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

function portProblem(error: NodeJS.ErrnoException): Error {
  const { host, port } = config.listen;
  if (error.code === 'EADDRINUSE') return new SettingError('PORT', `${port} is in use on ${host}; choose another`);
  if (error.code === 'EACCES') return new SettingError('PORT', `${port} may not be used by this user`);
  return new SettingError('HOST', `cannot listen on ${host}:${port} (${error.code})`);
}

function settings(): Config {
  try {
    return readConfig(process.env);
  } catch (error) {
    return fail(error);
  }
}

const config = settings();
const context = await openContext(config).catch(fail);
const { log } = context;
log.info({ settings: redactedSettings(GATEWAY_SETTINGS, process.env) }, 'settings');
const app = buildApp(context);
const ops = await openOps(context, app).catch(fail);
let background: AsyncDisposable[] = [];

let leaving = false;
async function leave(signal: NodeJS.Signals): Promise<void> {
  if (leaving) return;
  leaving = true;
  const { delayMs, withinMs } = config.drain;
  log.info({ signal, delay_ms: delayMs, within_ms: withinMs }, 'draining');
  ops?.readiness.drain();
  context.shutdown.drain();
  setTimeout(() => {
    log.warn('drain took too long');
    process.exit(1);
  }, delayMs + withinMs).unref();
  const graceMs = Math.min(SHUTDOWN_GRACE_MS, withinMs / 2);
  setTimeout(() => context.shutdown.end(), delayMs + withinMs - graceMs).unref();
  // During shutdown Node does not time out slow requests, and Postgres may take seconds for a poll being accepted.
  const cut = setTimeout(
    () => {
      log.warn('drain.connections_cut');
      app.server.closeAllConnections();
    },
    delayMs + withinMs - graceMs / 2,
  );
  await wait(delayMs);
  await Promise.all([
    app.close().then(() => clearTimeout(cut)),
    ...background.map((task) => task[Symbol.asyncDispose]()),
  ]);
  await ops?.[Symbol.asyncDispose]();
  await context[Symbol.asyncDispose]();
  log.info('stopped');
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void leave(signal));

await app.listen(config.listen).catch((error: NodeJS.ErrnoException) => fail(portProblem(error)));
background = [startReconciler(context), startHeartbeat(context), keepBatchesRunning(context)];
context.deposits?.chain.token().catch((error) => log.warn({ err: error }, 'deposit.chain_unavailable'));
const { address, port } = app.server.address() as AddressInfo;
const ready = { msg: 'ready', service: 'gateway', address, port, base_url: config.baseUrl };
process.stdout.write(`${JSON.stringify({ ...ready, ...(ops && { ops_url: ops.url }) })}\n`);
await compileAhead([PollRequest, ShortPollRequest, FreePollRequest]);
