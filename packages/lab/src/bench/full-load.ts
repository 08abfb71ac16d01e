import type { Socket } from 'node:net';
import { answerReader, connectTo } from './http-bytes.ts';

// Full load: each of so many connections sends its next request as soon as it has the answer to the last one.

/** Its end throws if a connection broke, because fewer connections are another load. */
export interface FullLoad extends AsyncDisposable {
  readonly answered: number;
  /** By status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Milliseconds from request to answer, for the latest ten thousand. */
  readonly took: readonly number[];
}

export interface FullLoadOptions {
  port: number;
  connections: number;
  /** The next request to send. */
  next(): Buffer;
}

const MAX_TIMES = 10_000;

export async function startFullLoad({ port, connections, next }: FullLoadOptions): Promise<FullLoad> {
  const statuses = new Map<number, number>();
  const took: number[] = [];
  let answered = 0;
  let stopping = false;

  const work = async (socket: Socket): Promise<void> => {
    const read = answerReader(socket);
    while (!stopping) {
      const sent = performance.now();
      socket.write(next());
      const status = await read();
      took[answered % MAX_TIMES] = performance.now() - sent;
      answered += 1;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    socket.destroy();
  };
  const sockets = await Promise.all(Array.from({ length: connections }, () => connectTo(port)));
  const working = Promise.all(sockets.map(work));
  // A connection may break long before the end of the load, which is where its error is thrown.
  working.catch(() => {});
  return {
    get answered() {
      return answered;
    },
    statuses,
    took,
    async [Symbol.asyncDispose]() {
      stopping = true;
      await working;
    },
  };
}
