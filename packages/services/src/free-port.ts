import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

// Ports below the range from which kernels assign ports (32,768 and up): no other server or connection is assigned a
// port between the moment it was found free and the moment its owner listens.

const FIRST_PORT = 10_000;
const PORTS = 20_000;
/**
 * Processes that run at the same time start at distant ports: by the golden section of the range, of 400 processes one after
 * the other any two are at least 16 ports apart.
 */
const STEP = 12_361;
const ATTEMPTS = 200;
const AGAIN_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 100;

let next = process.pid * STEP;

/** A free port that this process has not returned before. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + (next++ % PORTS);
    if (await portIsFree(port, host)) return port;
  }
  throw new Error(`${ATTEMPTS} ports of ${host} one after another are taken`);
}

/**
 * The same port once it is free, for a server that comes back to it: another program may have taken it meanwhile. After
 * some time it is returned all the same, and the server says what is wrong.
 */
export async function samePort(port: number, host = '127.0.0.1'): Promise<number> {
  const until = performance.now() + AGAIN_WITHIN_MS;
  while (!(await portIsFree(port, host)) && performance.now() < until) await delay(LOOK_EVERY_MS);
  return port;
}

/** Whether a server can listen on a port at this moment. */
export function portIsFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
