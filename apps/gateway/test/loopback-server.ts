import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface Exchange {
  request: IncomingMessage;
  body: string;
  response: ServerResponse;
  reply(status: number, value: unknown): void;
}

/** A server for one test that stands in for somebody else's; resolves to its address. */
export async function loopbackServer(
  t: Pick<Test, 'teardown'>,
  answer: (exchange: Exchange) => unknown,
): Promise<string> {
  const server = createServer((request, response) => {
    const reply = (status: number, value: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    bodyOf(request)
      .then((body) => answer({ request, body, response, reply }))
      .catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
