import { Role } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { A2AClient } from 'a2a03/client';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// Third-party A2A clients of two protocol versions. They find the service by its card, which
// names the public address; here that address is this process.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const { app, context, keyWith } = await build(t);
const { baseUrl } = context.config;
const home = await app.listen({ host: '127.0.0.1', port: 0 });
await standInWorker(t, context);

const fetchAs =
  (headers: Record<string, string> = {}): typeof fetch =>
  (input, init) => {
    const given = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) given.set(name, value);
    return fetch(String(input).replace(baseUrl, home), { ...init, headers: given });
  };

async function clientOf(headers: Record<string, string>, path?: string) {
  const transports = [new JsonRpcTransportFactory({ fetchImpl: fetchAs(headers) })];
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl: fetchAs() });
  return new ClientFactory({ transports, cardResolver }).createFromUrl(baseUrl, path);
}

const request = (value: unknown) => ({
  tenant: '',
  message: {
    messageId: 'm-1',
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [{ content: { $case: 'data' as const, value }, metadata: undefined, filename: '', mediaType: '' }],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  },
  configuration: undefined,
  metadata: undefined,
});

t.test(
  '[§4.6-a2a-200, §4.6-a2a-402, §4.6-a2a-400] a client of version 1.0 sends a task and reads it again',
  async (t) => {
    const client = await clientOf((await keyWith(5)).bearer);
    const task = await client.sendMessage(request(POLL));
    if (!('artifacts' in task)) throw new Error('a message instead of a task');
    const [data, text] = task.artifacts[0]?.parts ?? [];
    t.match(data?.content, { $case: 'data', value: { winning_option: 'A', status: 'success' } });
    t.match(text?.content, { $case: 'text', value: 'A' });
    t.same(await client.getTask({ tenant: '', id: task.id }), task);
    await t.rejects(client.sendMessage(request({ question: 'short', options: ['A', 'B'] })), /at least 10 characters/);
    const poor = await clientOf((await keyWith(0)).bearer);
    await t.rejects(poor.sendMessage(request(POLL)), /may cost up to/);
    await t.rejects((await clientOf({})).sendMessage(request(POLL)));
  },
);

t.test('[§4.7-agent-card] a client of version 1.0 works from the unified card', async (t) => {
  const client = await clientOf((await keyWith(5)).bearer, '/api/agent-card');
  t.ok('artifacts' in (await client.sendMessage(request(POLL))));
});

t.test(
  '[§4.6-a2a-200, §4.6-agent-json] a client of version 0.3 sends and reads a task, from either path of the card',
  async (t) => {
    for (const path of ['agent.json', 'agent-card.json']) {
      const { bearer } = await keyWith(5);
      const client = await A2AClient.fromCardUrl(`${baseUrl}/.well-known/${path}`, { fetchImpl: fetchAs(bearer) });
      const parts = [{ kind: 'text' as const, text: JSON.stringify(POLL) }];
      const message = { kind: 'message' as const, messageId: 'm-1', role: 'user' as const, parts };
      const answer = await client.sendMessage({ message });
      if (!('result' in answer) || answer.result.kind !== 'task') throw new Error(JSON.stringify(answer));
      t.match(answer.result.artifacts?.[0]?.parts[0], { kind: 'data', data: { winning_option: 'A' } });
      const again = await client.getTask({ id: answer.result.id });
      t.same('result' in again && again.result, answer.result);
    }
  },
);
