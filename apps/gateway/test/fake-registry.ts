import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

// A registry of model variants that does what a test tells it.

export interface FakeRegistry {
  url: string;
  /** The path and query of every call. */
  calls: string[];
  /** What the next calls get. */
  answer(reply: Reply): void;
}

export type Reply = object | ((response: ServerResponse) => void | Promise<void>);

export const ROWS = [
  { id: 'a@1', model: 'a', org: 'acorn', anything: { goes: [1, null] } },
  { id: 'a@2', model: 'a', org: 'acorn' },
  { id: 'b@1', model: 'b', org: 'birch' },
];

export async function fakeRegistry(t: Pick<Test, 'teardown'>): Promise<FakeRegistry> {
  const calls: string[] = [];
  let reply: Reply = { count: ROWS.length, model_count: 7, variants: ROWS };
  const server = createServer((request, response) => {
    calls.push(request.url ?? '');
    if (typeof reply === 'function') void reply(response);
    else response.end(JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/registry`,
    calls,
    answer: (next) => {
      reply = next;
    },
  };
}
