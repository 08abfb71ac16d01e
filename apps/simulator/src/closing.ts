import type { Socket } from 'node:net';
import type { App } from './app.ts';
import type { Exchanges } from './exchanges.ts';

const FLUSH_MS = 1000;

/**
 * Makes closing take a bounded time. Node closes idle connections, but waits for those that never sent a request and
 * for clients that do not read. The former are closed at once, the latter after a second.
 */
export function boundClosing(app: App, exchanges: Exchanges, drainMs: number): void {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', async () => {
    await exchanges.close(drainMs);
    for (const socket of unused) socket.destroy();
    const timer = setTimeout(() => app.server.closeAllConnections(), FLUSH_MS);
    app.server.once('close', () => clearTimeout(timer));
  });
}
