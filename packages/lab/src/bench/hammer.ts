import { connect, type Socket } from 'node:net';

// A cheap load generator: requests are prepared bytes, connections stay open, and only status and length of an answer
// are read. One request at a time per connection.

export interface Hammer extends AsyncDisposable {
  readonly answered: number;
  /** By status. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Milliseconds from request to answer, for the latest ten thousand. */
  readonly took: readonly number[];
}

export interface Blow {
  port: number;
  connections: number;
  /** The next request to send. */
  next(): Buffer;
}

const MAX_TIMES = 10_000;

export async function hammer({ port, connections, next }: Blow): Promise<Hammer> {
  const statuses = new Map<number, number>();
  const took: number[] = [];
  let answered = 0;
  let stopping = false;
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => {});

  const work = async (socket: Socket): Promise<void> => {
    const read = answers(socket);
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
  const sockets = await Promise.all(Array.from({ length: connections }, () => connected(port)));
  const working = Promise.all(sockets.map(work)).catch(reject);
  return {
    get answered() {
      return answered;
    },
    statuses,
    took,
    async [Symbol.asyncDispose]() {
      stopping = true;
      await Promise.race([working, broken]);
    },
  };
}

export function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Reads one answer after another: each call resolves with the status of the next one once it is complete. */
export function answers(socket: Socket): () => Promise<number> {
  let rest: Buffer = Buffer.alloc(0);
  let onReached: ((status: number) => void) | null = null;
  let fail: ((error: Error) => void) | null = null;
  socket.on('data', (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = rest.toString('latin1', 0, end);
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return;
    rest = rest.subarray(end + 4 + length);
    onReached?.(Number(head.slice(9, 12)));
  });
  const gone = () => fail?.(new Error('a connection was closed before its answer'));
  socket.on('close', gone);
  socket.on('error', gone);
  return () =>
    new Promise((resolve, reject) => {
      onReached = resolve;
      fail = reject;
    });
}

export function requestBytes(method: string, path: string, headers: Record<string, string> = {}, body = ''): Buffer {
  const all = { host: 'localhost', ...headers, ...(body && { 'content-type': 'application/json' }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  if (body) lines.push(`content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
