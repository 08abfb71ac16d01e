import type { AddressInfo } from 'node:net';
import { buildApp } from './app.ts';
import { type Config, ConfigError, decideConfig } from './config.ts';
import { openContext } from './context.ts';
import { readEnvironment } from './environment.ts';
import { startHeartbeat } from './heartbeat.ts';
import { startReconciler } from './reconciler.ts';

// The gateway as a process: settings, connections, listening, one line that says it is ready. On SIGTERM it takes no
// more requests, lets those under way finish, tells the ones that still wait for a poll to come back, and ends within
// its time whatever happens.

const LAST_CALL_MS = 6_500;
const END_MS = 8_000;

function fail(error: unknown): never {
  process.stderr.write(`gateway: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

function portProblem(error: NodeJS.ErrnoException): Error {
  const { host, port } = config.listen;
  if (error.code === 'EADDRINUSE') return new ConfigError('PORT', `${port} is in use on ${host}; choose another`);
  if (error.code === 'EACCES') return new ConfigError('PORT', `${port} may not be used by this user`);
  return new ConfigError('HOST', `cannot listen on ${host}:${port} (${error.code})`);
}

function readConfig(): Config {
  try {
    return decideConfig(readEnvironment(process.env));
  } catch (error) {
    return fail(error);
  }
}

const config = readConfig();
const context = await openContext(config).catch(fail);
const app = buildApp(context);
let reconciler: AsyncDisposable | undefined;
let heartbeat: Disposable | undefined;

let leaving = false;
async function leave(signal: NodeJS.Signals): Promise<void> {
  if (leaving) return;
  leaving = true;
  context.log.info({ signal }, 'draining');
  setTimeout(() => context.shutdown.abort(), LAST_CALL_MS).unref();
  setTimeout(() => {
    context.log.warn('drain took too long');
    process.exit(1);
  }, END_MS).unref();
  heartbeat?.[Symbol.dispose]();
  await Promise.all([app.close(), reconciler?.[Symbol.asyncDispose]()]);
  await context[Symbol.asyncDispose]();
  context.log.info('stopped');
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void leave(signal));

await app.listen(config.listen).catch((error) => fail(portProblem(error)));
reconciler = startReconciler(context);
context.desk?.chain.token().catch((error) => context.log.warn({ err: error }, 'no deposits for now'));
heartbeat = startHeartbeat(context);
const { address, port } = app.server.address() as AddressInfo;
process.stdout.write(
  `${JSON.stringify({ msg: 'ready', service: 'gateway', address, port, base_url: config.baseUrl })}\n`,
);
