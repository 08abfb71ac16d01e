import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 4 s

// The cases of the A2A TCK (its branch for 1.0) for a JSON-RPC agent that declares streaming and no push notifications,
// and every method of both revisions that the official clients keep from their callers.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const URL_PATH = '/api/a2a/tasks/send';
const { app, context, keyWith } = await build(t);
await standInWorker(t, context);

const rpc = (method: unknown, params?: unknown) => ({ jsonrpc: '2.0', id: 7, method, params });
const message = (more: object = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ data: POLL }], ...more });

async function caller(usd = 5) {
  const { bearer } = await keyWith(usd);
  const send = (payload: object | string, headers = {}) =>
    app.inject({
      method: 'POST',
      url: URL_PATH,
      headers: { ...bearer, 'content-type': 'application/json', ...headers },
      payload,
    });
  const ask = async (method: string, params?: unknown) => (await send(rpc(method, params))).json();
  const make = async (more: object = {}) =>
    (await ask('SendMessage', { message: message(more) })).result.task as { id: string; contextId: string };
  return { send, ask, make };
}

t.test('what an agent without push notifications and extended card answers, by method and revision', async (t) => {
  const { ask, make } = await caller();
  const { id } = await make();
  const table: readonly (readonly [revision: string, method: string, code: number])[] = [
    ['0.1', 'tasks/pushNotification/set', -32_003],
    ['0.1', 'tasks/pushNotification/get', -32_003],
    ['0.1', 'tasks/sendSubscribe', -32_004],
    ['0.3', 'tasks/pushNotificationConfig/set', -32_003],
    ['0.3', 'tasks/pushNotificationConfig/get', -32_003],
    ['0.3', 'tasks/pushNotificationConfig/list', -32_003],
    ['0.3', 'tasks/pushNotificationConfig/delete', -32_003],
    ['0.3', 'agent/getAuthenticatedExtendedCard', -32_004],
    ['0.3', 'tasks/list', -32_601],
    ['0.3', 'tasks/cancel', -32_002],
    ['1.0', 'CreateTaskPushNotificationConfig', -32_003],
    ['1.0', 'GetTaskPushNotificationConfig', -32_003],
    ['1.0', 'ListTaskPushNotificationConfigs', -32_003],
    ['1.0', 'DeleteTaskPushNotificationConfig', -32_003],
    ['1.0', 'GetExtendedAgentCard', -32_004],
    ['1.0', 'SubscribeToTask', -32_004],
    ['1.0', 'CancelTask', -32_002],
  ];
  for (const [revision, method, code] of table) {
    const { error } = await ask(method, { id });
    t.equal(error?.code, code, `${revision} ${method}`);
    if (revision === '1.0') t.match(error.data, [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo' }, {}], method);
  }
  t.match((await ask('CancelTask', { id })).error.data, [
    { reason: 'TASK_NOT_CANCELABLE', domain: 'a2a-protocol.org' },
    { code: 'invalid_task_input' },
  ]);
  const stranger = await caller();
  for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask', 'tasks/get', 'tasks/cancel', 'tasks/resubscribe']) {
    t.equal((await ask(method, { id: 'unknown' })).error.code, -32_001, method);
    t.equal((await stranger.ask(method, { id })).error.code, -32_001, `${method} of another account's task`);
  }
  t.equal((await ask('GetExtendedAgentCard')).error.code, -32_004, 'without params');
});

t.test('JSON-RPC: what is no request, and what a request may not be', async (t) => {
  const { send } = await caller();
  const params = { message: message() };
  const table: [payload: object | string, code: number, headers?: object][] = [
    [{ ...rpc('SendMessage', params), jsonrpc: '1.0' }, -32_600],
    [{ method: 'SendMessage', params, id: 7 }, -32_600],
    [{ jsonrpc: '2.0', id: 7, params }, -32_600],
    [{ ...rpc('SendMessage', params), id: { bad: 'type' } }, -32_600],
    [rpc(5, params), -32_600],
    [rpc('unknown/method', params), -32_601],
    [rpc('SendMessage', { '': 'not a message' }), -32_602],
    [rpc('SendMessage', { message: { messageId: 'm' } }), -32_602],
    [rpc('SendStreamingMessage', { invalid: 'params' }), -32_602],
    [rpc('SendMessage', { message: message({ parts: [{ raw: 'AA==', mediaType: 'image/png' }] }) }), -32_005],
    [rpc('message/send', { message: message({ parts: [{ kind: 'file', file: {} }] }) }), -32_005],
    ['{"jsonrpc": "2.0", "method": ', -32_700, { 'a2a-version': '1.0' }],
  ];
  for (const [payload, code, headers] of table) {
    const answer = await send(payload, headers);
    const status = code === -32_601 || code === -32_005 ? 200 : 400;
    t.match([answer.statusCode, answer.json()], [status, { jsonrpc: '2.0', error: { code } }], JSON.stringify(payload));
  }
  t.equal((await send('{')).json().code, 'malformed_json', 'without a sign of the protocol it is a plain error');
});

t.test('a second message for a task, and one that asks for push notifications, make no poll', async (t) => {
  const { ask, make } = await caller();
  const { id } = await make();
  const codeOf = async (method: string, params: object) => (await ask(method, params)).error?.code;
  t.equal(await codeOf('SendMessage', { message: message({ taskId: id }) }), -32_004);
  t.equal(await codeOf('SendStreamingMessage', { message: message({ taskId: id }) }), -32_004);
  t.equal(await codeOf('SendMessage', { message: message({ taskId: 'unknown' }) }), -32_001);
  const hook = { url: 'https://hooks.example/' };
  for (const [method, configuration] of [
    ['SendMessage', { taskPushNotificationConfig: hook, returnImmediately: true }],
    ['message/send', { pushNotificationConfig: hook, blocking: false }],
  ] as const)
    t.equal(await codeOf(method, { message: message(), configuration }), -32_003);
  t.equal((await ask('ListTasks')).result.totalSize, 1);
});

t.test('ListTasks: filters, pages and what it refuses', async (t) => {
  const [{ ask, make }, other] = [await caller(), await caller()];
  await other.make();
  const made = [];
  for (const contextId of ['one', 'two', 'one', undefined, 'one']) made.push(await make({ contextId }));
  const ids = made.map(({ id }) => id).reverse();
  const list = async (params?: object) => (await ask('ListTasks', params)).result;

  const all = await list();
  t.same(
    all.tasks.map(({ id }: { id: string }) => id),
    ids,
    'the last changed first, of this account',
  );
  t.match(all, { totalSize: 5, pageSize: 5, nextPageToken: '' });
  for (const task of all.tasks) t.match(task, { contextId: String, status: { state: 'TASK_STATE_COMPLETED' } });
  t.notOk(all.tasks.some((task: object) => 'artifacts' in task));
  const [whole] = (await list({ includeArtifacts: true })).tasks;
  t.same(whole, (await ask('GetTask', { id: ids[0] })).result);

  const ofContext = await list({ contextId: 'one', status: 'TASK_STATE_COMPLETED' });
  t.same(
    ofContext.tasks.map(({ id }: { id: string }) => id),
    [ids[0], ids[2], ids[4]],
  );
  t.equal((await list({ contextId: ids[1] })).totalSize, 1, 'a task without a context of its own');
  t.match(await list({ contextId: 'none' }), { tasks: { length: 0 }, totalSize: 0, pageSize: 0, nextPageToken: '' });
  for (const status of ['TASK_STATE_WORKING', 'TASK_STATE_CANCELED']) t.equal((await list({ status })).totalSize, 0);
  const [newest] = all.tasks;
  t.equal((await list({ statusTimestampAfter: newest.status.timestamp })).tasks[0].id, ids[0]);
  t.equal((await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' })).totalSize, 0);

  const seen: string[] = [];
  let page = await list({ pageSize: 2 });
  while (true) {
    t.equal(page.totalSize, 5);
    seen.push(...page.tasks.map(({ id }: { id: string }) => id));
    if (page.nextPageToken === '') break;
    page = await list({ pageSize: 2, pageToken: page.nextPageToken });
  }
  t.same(seen, ids);

  const wrong = [
    { pageToken: 'not ours' },
    { status: 'TASK_STATE_DREAMING' },
    { status: 4 },
    { pageSize: 0 },
    { pageSize: -1 },
    { pageSize: 101 },
    { historyLength: -1 },
    { statusTimestampAfter: 'yesterday' },
    { contextId: 5 },
  ];
  for (const params of wrong) t.equal((await ask('ListTasks', params)).error?.code, -32_602, JSON.stringify(params));
});

t.test(
  'subscribing to a running task: the task first, then what happens to it; a refused one streams nothing',
  async (t) => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const one = await build(t);
    await standInWorker(t, one.context, { holdUntil: held, announcesVotes: true });
    const home = await one.app.listen({ host: '127.0.0.1', port: 0 });
    const { bearer } = await one.keyWith(5);
    const post = (payload: object) =>
      fetch(`${home}${URL_PATH}`, {
        method: 'POST',
        headers: { ...bearer, 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify(payload),
      });
    const begun = await post(rpc('SendMessage', { message: message(), configuration: { returnImmediately: true } }));
    const { task } = ((await begun.json()) as { result: { task: { id: string } } }).result;
    const streams = await Promise.all(
      ['SubscribeToTask', 'tasks/resubscribe'].map((method) => post(rpc(method, { id: task.id }))),
    );
    t.equal(streams[0]?.headers.get('content-type'), 'text/event-stream');
    await eventually('both streams are open', async () => one.context.streams.count() === 2);
    release();
    const [modern = [], old = []] = await Promise.all(
      streams.map(async (stream) =>
        (await stream.text())
          .split('\n\n')
          .flatMap((event) => (event.startsWith('data: ') ? [JSON.parse(event.slice(6))] : [])),
      ),
    );
    t.ok(modern.every(({ jsonrpc, id }) => jsonrpc === '2.0' && id === 7));
    t.match(modern[0].result, { task: { id: task.id, status: { state: 'TASK_STATE_WORKING' } } });
    t.match(modern.at(-2).result, {
      artifactUpdate: { taskId: task.id, artifact: { parts: [{ data: { winning_option: 'A' } }, {}] } },
    });
    t.match(modern.at(-1).result, { statusUpdate: { taskId: task.id, status: { state: 'TASK_STATE_COMPLETED' } } });
    t.match(old[0].result, { kind: 'task', id: task.id, status: { state: 'working' } });
    t.match(old.at(-1).result, { kind: 'status-update', final: true, status: { state: 'completed' } });
    const progress = modern.slice(1, -2).map(({ result }) => result.statusUpdate.metadata.progress.received);
    t.same(
      progress,
      [...new Set(progress)].sort((a, b) => a - b),
      'progress never goes back',
    );

    const poor = await one.keyWith(0);
    const refused = await fetch(`${home}${URL_PATH}`, {
      method: 'POST',
      headers: { ...poor.bearer, 'content-type': 'application/json' },
      body: JSON.stringify(rpc('SendStreamingMessage', { message: message() })),
    });
    t.match([refused.status, await refused.json()], [402, { error: { code: -32_000 } }]);
  },
);
