import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

// A client of Node that reads nothing gets no event when its connection is closed or reset. The kernel knows.

const TABLE = '/proc/net/tcp';
const ESTABLISHED = '01';

/** The local ports that are connected to this remote port, in a table of connections as the kernel writes it. */
export function connectedPorts(table: string, remotePort: number): Set<number> {
  const ports = new Set<number>();
  for (const line of table.split('\n').slice(1)) {
    const [, local = '', remote = '', state] = line.trim().split(/\s+/);
    if (state === ESTABLISHED && portIn(remote) === remotePort) ports.add(portIn(local));
  }
  return ports;
}

const portIn = (address: string): number => Number.parseInt(address.split(':')[1] ?? '', 16);

/** Whether each of these clients of a server on this machine is still connected to it, or about to be. */
export function whoIsConnected(sockets: readonly Socket[], serverPort: number): boolean[] {
  const open = connectedPorts(readFileSync(TABLE, 'utf8'), serverPort);
  return sockets.map(
    ({ destroyed, connecting, localPort }) =>
      !destroyed && (connecting || localPort === undefined || open.has(localPort)),
  );
}
