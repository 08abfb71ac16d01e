import { createServer } from 'node:net';

// Ports below the range from which kernels assign ports (32,768 and up): no other server or connection is assigned a
// port between the moment it was found free and the moment its owner listens.

const FIRST_PORT = 10_000;
const PORTS = 20_000;
/** Processes that run at the same time start at different ports. */
const PORTS_OF_A_PROCESS = 8;
const ATTEMPTS = 200;

let next = process.pid * PORTS_OF_A_PROCESS;

/** A free port that this process has not returned before. */
export async function freePort(host = '127.0.0.1'): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = FIRST_PORT + (next++ % PORTS);
    if (await portIsFree(port, host)) return port;
  }
  throw new Error(`${ATTEMPTS} ports of ${host} one after another are taken`);
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
