import { Role, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import {
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
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
await standInWorker(t, context, { announcesVotes: true, holdMs: 200 });

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

const collect = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
};

t.test('[§4.6-a2a-200] version 1.0: every method of the official client', async (t) => {
  const client = await clientOf((await keyWith(5)).bearer);
  const events = await collect(client.sendMessageStream(request(POLL)));
  const kinds = events.map(({ payload }) => payload?.$case);
  t.match([kinds[0], ...kinds.slice(-2)], ['task', 'artifactUpdate', 'statusUpdate']);
  t.ok(kinds.length > 3, `${kinds.length} events`);
  const [first, last] = [taskOf(events[0]), events.at(-1)?.payload];
  t.equal(first.status?.state, TaskState.TASK_STATE_WORKING);
  t.match(last?.value, { taskId: first.id, status: { state: TaskState.TASK_STATE_COMPLETED } });

  const task = await client.getTask({ tenant: '', id: first.id });
  t.same(
    events.flatMap(({ payload }) => (payload?.$case === 'artifactUpdate' ? [payload.value.artifact] : [])),
    task.artifacts,
  );

  const all = {
    tenant: '',
    contextId: '',
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: '',
    statusTimestampAfter: undefined,
  };
  const listed = await client.listTasks(all);
  t.match(listed, { tasks: [{ id: first.id, artifacts: { length: 0 } }], totalSize: 1, nextPageToken: '' });
  t.same((await client.listTasks({ ...all, includeArtifacts: true })).tasks, [task]);

  const named = { tenant: '', id: first.id, metadata: undefined };
  await t.rejects(client.cancelTask(named), TaskNotCancelableError);
  await t.rejects(client.cancelTask({ ...named, id: 'unknown' }), TaskNotFoundError);
  await t.rejects(collect(client.resubscribeTask({ tenant: '', id: first.id })), UnsupportedOperationError);
  await t.rejects(pushOf(client, first.id), PushNotificationNotSupportedError);
});

/** The client asks the card first, so the transport is asked directly. */
const pushOf = ({ transport }: Awaited<ReturnType<typeof clientOf>>, taskId: string) =>
  transport.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 1, pageToken: '' });

function taskOf(event: StreamResponse | undefined) {
  if (event?.payload?.$case !== 'task') throw new Error(`not a task: ${JSON.stringify(event)}`);
  return event.payload.value;
}

t.test('[§4.6-a2a-200] version 0.3: every method of the official client', async (t) => {
  const { bearer } = await keyWith(5);
  const client = await A2AClient.fromCardUrl(`${baseUrl}/.well-known/agent-card.json`, { fetchImpl: fetchAs(bearer) });
  const parts = [{ kind: 'data' as const, data: POLL }];
  const message = { kind: 'message' as const, messageId: 'm-1', contextId: 'ours', role: 'user' as const, parts };
  const events = await collect(client.sendMessageStream({ message }));
  t.match(
    [events[0], ...events.slice(-2)],
    [
      { kind: 'task', contextId: 'ours', status: { state: 'working' } },
      { kind: 'artifact-update', contextId: 'ours', lastChunk: true },
      { kind: 'status-update', contextId: 'ours', status: { state: 'completed' }, final: true },
    ],
  );
  t.ok(
    events.slice(1, -2).every((event) => event.kind === 'status-update' && !event.final && event.metadata?.progress),
  );
  const id = (events[0] as { id: string }).id;
  const again = await client.getTask({ id });
  if (!('result' in again)) throw new Error(JSON.stringify(again));
  t.same(await collect(client.resubscribeTask({ id })), [again.result], 'of an ended task the stream is the task');
  t.match(await client.cancelTask({ id }), { error: { code: -32_002 } });
  t.match(await client.cancelTask({ id: 'unknown' }), { error: { code: -32_001 } });
  for (const method of ['tasks/pushNotificationConfig/set', 'tasks/pushNotificationConfig/list'])
    t.match(await client.callExtensionMethod(method, { id }), { error: { code: -32_003 } });
});
