import { existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

// A client of Node that reads nothing gets no event when its connection is closed or reset, and its own end of the
// connection stays open as long as unread data is before the end. What the kernel says of the server's end is right.

/** A server that listens on IPv6, too, has its connections in the second. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
const ESTABLISHED = '01';

/** The ports of the clients that this server is connected to, in a table of connections as the kernel writes it. */
export function connectedPorts(table: string, serverPort: number): Set<number> {
  const ports = new Set<number>();
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    if (state === ESTABLISHED && portIn(local) === serverPort) ports.add(portIn(remote));
  }
  return ports;
}

const portIn = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/** Whether each of these clients of a server on this machine is still connected to it, or about to be. */
export function whoIsConnected(sockets: readonly Socket[], serverPort: number): boolean[] {
  const open = connectedPorts(TABLES.map(readTable).join('\n'), serverPort);
  return sockets.map(
    ({ destroyed, connecting, localPort }) =>
      !destroyed && (connecting || localPort === undefined || open.has(localPort)),
  );
}

function readTable(table: string): string {
  return existsSync(table) ? readFileSync(table, 'utf8') : '';
}
