import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';

/** A gateway as a process of its own, ready; what it is to be killed for is up to the test. */
export async function startGateway(t: Test, env: Record<string, string>) {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const gateway = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: '0',
      BASE_URL: 'http://localhost:1',
      MODELS_FILE: 'simulator',
      ...env,
    },
  });
  const kill = async () => {
    if (gateway.exitCode === null && gateway.signalCode === null && gateway.kill('SIGKILL'))
      await once(gateway, 'exit');
  };
  t.teardown(kill);
  for await (const line of createInterface(gateway.stdout)) {
    const { msg, port } = line.startsWith('{') ? JSON.parse(line) : {};
    if (msg !== 'ready') continue;
    gateway.stdout.resume();
    return { url: `http://127.0.0.1:${port}`, kill };
  }
  throw new Error('the gateway ended before it was ready');
}
