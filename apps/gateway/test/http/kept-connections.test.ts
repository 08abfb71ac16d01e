import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// One connection may serve a caller for days. Whatever it was asked for, nothing of an answered request stays on it.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

t.test('requests leave nothing behind on the connection that carried them', async (t) => {
  const { app, context, keyWith } = await build(t);
  await standInWorker(t, context);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { bearer } = await keyWith(100);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const accepted = once(app.server, 'connection');
  const { port } = app.server.address() as AddressInfo;

  async function ask(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
    const sent = request({ agent, port, method, path, headers: { ...headers, 'content-type': 'application/json' } });
    sent.end(body && JSON.stringify(body));
    const [answer] = await once(sent, 'response');
    let text = '';
    for await (const piece of answer) text += piece;
    return { status: answer.statusCode as number, text };
  }

  async function round() {
    const { text } = await ask('POST', '/api/polls', bearer, POLL);
    const { session_id: id } = JSON.parse(text);
    t.equal((await ask('GET', `/api/polls/${id}/status`, { ...bearer, prefer: 'wait=30' })).status, 200);
    t.equal((await ask('POST', '/api/poll', bearer, POLL)).status, 200);
    t.equal((await ask('POST', '/api/poll/stream', bearer, POLL)).status, 200);
    t.equal((await ask('POST', '/api/mcp', { ...bearer, accept: MCP }, INITIALIZE)).status, 200);
    t.equal((await ask('GET', '/api/openapi.json')).status, 200);
    t.equal((await ask('GET', '/?view=human', { accept: 'text/html' })).status, 200);
    t.equal((await ask('POST', '/api/poll', bearer, {})).status, 400);
    t.equal((await ask('GET', '/nowhere')).status, 404);
  }

  await round();
  const [socket] = await accepted;
  const before = listeners(socket);
  for (let i = 0; i < 3; i++) await round();
  t.same(listeners(socket), before);
  t.equal(await connections(app.server), 1, 'all went over one connection');
});

const MCP = 'application/json, text/event-stream';

const listeners = (socket: Socket): Record<string, number> =>
  Object.fromEntries(socket.eventNames().map((name) => [String(name), socket.listenerCount(name)]));

const connections = (server: { getConnections(done: (error: Error | null, count: number) => void): void }) =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
