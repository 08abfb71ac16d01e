import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { type TestCertificate, testCertificate } from '@eloquentpoll/testkit/tls-certificate';
import type { Test } from 'tap';

// Servers that receive, well or badly.

export const NAMES = ['good.example.com', '*.example.com'];
export const certificate: TestCertificate = testCertificate(NAMES, ['127.0.0.1']);

export interface Received {
  method: string | undefined;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Receiver {
  port: number;
  received: Received[];
  /** Connections, whether or not a request came. */
  connections(): number;
}

export type Answer = (response: ServerResponse, received: Received) => void;

export async function receiver(
  t: Pick<Test, 'teardown'>,
  answer: Answer,
  { tls = true, host = '127.0.0.1', cert = certificate }: { tls?: boolean; host?: string; cert?: TestCertificate } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, url = '', headers } = request;
      const one = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      answer(response, one);
    });
  };
  const server = tls ? createTlsServer(cert, listener) : createServer(listener);
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  await listening(server, host);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, received, connections: () => connections };
}

const listening = (server: Server, host: string): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
