import { buildSimulator } from './app.ts';
import { readConfig } from './config.ts';
import { CHAIN_ID, PAY_TO, TOKEN } from './play-money/token.ts';

// The process: listens, prints its address, and shuts down cleanly on a signal.

try {
  const { host, port, options } = readConfig(process.env);
  const app = buildSimulator(options);
  const url = await app.listen({ host, port });
  log({ msg: 'ready', url, play_money: { chain_id: CHAIN_ID, token: TOKEN, pay_to: PAY_TO } });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      log({ msg: 'stopping', signal });
      void app.close().then(() => log({ msg: 'stopped' }));
    });
} catch (error) {
  log({ msg: 'failed to start', error: error instanceof Error ? error.message : String(error) });
  process.exitCode = 1;
}

function log(line: Record<string, unknown>): void {
  console.log(JSON.stringify({ time: new Date().toISOString(), app: 'simulator', ...line }));
}
