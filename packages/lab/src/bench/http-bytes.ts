import { connect, type Socket } from 'node:net';

// HTTP as prepared bytes on a connection that stays open. Only status and length of an answer are read, so that the
// load generators cost little.

export function connectTo(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Reads one answer after another: each call resolves with the status of the next one once it is complete. */
export function answerReader(socket: Socket): () => Promise<number> {
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
