import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// The address to which the browser returns after a login: on this computer only, for a single answer.

export type GrantAnswer = { code: string } | { refused: true };

export interface Loopback {
  port: number;
  /** Resolves when a request with the right state has arrived. */
  answer: Promise<GrantAnswer>;
  close(): void;
}

const HERE = 'http://127.0.0.1';

export async function listenForGrant(state: string): Promise<Loopback> {
  let take: (found: GrantAnswer) => void = () => {};
  const answer = new Promise<GrantAnswer>((done) => {
    take = done;
  });
  let port = 0;
  let replied: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    const found = readAnswer(request, port, state);
    if (found) replied = once(response, 'close');
    reply(response, found);
    if (found) take(found);
  });
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', done);
  });
  port = (server.address() as AddressInfo).port;
  return {
    port,
    answer,
    close() {
      server.close();
      // The last page may still be being sent, and browsers keep other connections open, some without a request.
      const end = () => server.closeAllConnections();
      void replied.then(end, end);
    },
  };
}

/** Null for requests other than the service's redirect: another page, another host name, or a guess. */
function readAnswer({ method, url = '', headers }: IncomingMessage, port: number, state: string): GrantAnswer | null {
  if (method !== 'GET' || headers.host !== `127.0.0.1:${port}`) return null;
  if (!URL.canParse(url, HERE)) return null;
  const { searchParams: query } = new URL(url, HERE);
  if (!isSame(query.get('state') ?? '', state)) return null;
  if (query.get('error') !== null) return { refused: true };
  const code = query.get('code') ?? '';
  return /^[\w-]{20,200}$/.test(code) ? { code } : null;
}

const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function reply(response: ServerResponse, found: GrantAnswer | null): void {
  const text = found
    ? 'code' in found
      ? 'Allowed. You can close this page and go back to the terminal.'
      : 'Refused. You can close this page.'
    : 'This address waits for a login of the command line.';
  response.writeHead(found ? 200 : 400, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`${text}\n`);
}
