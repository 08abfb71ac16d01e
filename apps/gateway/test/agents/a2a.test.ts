import { randomUUID } from 'node:crypto';
import { PollResponse } from '@eloquentpoll/contracts';
import { findPoll } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { inlined } from '../../src/discovery/documents/inlined.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 4 s

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const { app, context, keyWith } = await build(t);
const { ran } = await standInWorker(t, context);
const isResponse = formats.default(new Ajv2020({ allowUnionTypes: true })).compile(inlined(PollResponse));

const send = (payload: object, headers: Record<string, string>) =>
  app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers, payload });

const early = (data: unknown, more: object = {}) => ({
  id: 'task-1',
  message: { role: 'user', parts: [{ type: 'data', data }] },
  ...more,
});
/** The protocol's own fields: a poll result has a `kind` of its own. */
const withoutResult = (task: unknown) => JSON.stringify(task, (name, value) => (name === 'data' ? undefined : value));
const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 7, method, params });

t.test('[§4.6-a2a-200, §1-way-a2a] a body that is not JSON-RPC is answered with the bare task', async (t) => {
  const { bearer } = await keyWith(5);
  const answer = await send(early(POLL, { sessionId: 'ses-1' }), bearer);
  t.equal(answer.statusCode, 200);
  const task = answer.json();
  t.match(task, {
    id: 'task-1',
    sessionId: 'ses-1',
    status: {
      state: 'completed',
      message: {
        role: 'agent',
        parts: [{ type: 'text', text: /^"A".*\d of \d(, stopped early)?\n.*\nThis is what the panel prefers/ }],
      },
    },
    artifacts: [{ name: 'poll_result', index: 0, parts: [{ type: 'data' }, { type: 'text', text: 'A' }] }],
    metadata: { result_url: /^https:\/\/polls\.example\/api\/results\/EP-/ },
  });
  t.ok(isResponse(task.artifacts[0].parts[0].data), JSON.stringify(isResponse.errors));
  const { pathname } = new URL(task.metadata.result_url);
  t.equal((await app.inject({ url: pathname })).statusCode, 200);
  t.notMatch(withoutResult(task), /"kind"|contextId/);
});

t.test('a text that ends with its options in brackets is a poll; JSON beside it comes first', async (t) => {
  const { bearer } = await keyWith(5);
  const ask = async (...parts: object[]) =>
    (await send({ id: randomUUID(), message: { role: 'user', parts } }, bearer)).json().artifacts[0].parts[0].data;
  const text = { type: 'text', text: 'Which of these is larger? [The Sun, "Earth, our planet"]' };
  t.match(await ask(text), { question: 'Which of these is larger?', options: ['The Sun', 'Earth, our planet'] });
  t.match(await ask(text, { type: 'text', text: JSON.stringify(POLL) }), POLL);
  const one = await send({ message: { parts: [{ type: 'text', text: 'Which of these is larger? [A]' }] } }, bearer);
  t.match([one.statusCode, one.json().code], [400, 'validation_error'], 'one option is no choice');
});

t.test('[§4.6-a2a-200] each version gets its own field names, and reads its task again', async (t) => {
  const { bearer } = await keyWith(5);
  const ask = async (method: string, params: unknown) => (await send(rpc(method, params), bearer)).json();

  const first = await ask('tasks/send', early(POLL));
  t.match(first, {
    jsonrpc: '2.0',
    id: 7,
    result: { id: 'task-1', artifacts: [{ parts: [{ type: 'data' }, { type: 'text' }] }] },
  });
  t.same((await ask('tasks/get', { id: 'task-1' })).result, first.result);
  const grouped = await ask('tasks/send', early(POLL, { id: 'task-2', sessionId: 'ses-1' }));
  t.equal(grouped.result.sessionId, 'ses-1');
  t.same((await ask('tasks/get', { id: 'task-2' })).result, grouped.result, 'with a session too');

  const message = { messageId: 'm', contextId: 'our context', role: 'user', kind: 'message' };
  const second = await ask('message/send', {
    message: { ...message, parts: [{ kind: 'text', text: JSON.stringify(POLL) }] },
  });
  t.match(second.result, {
    kind: 'task',
    contextId: 'our context',
    status: {
      state: 'completed',
      message: { kind: 'message', messageId: String, role: 'agent', taskId: second.result.id },
    },
    artifacts: [
      {
        artifactId: /^EP-/,
        parts: [
          { kind: 'data', data: { winning_option: 'A' } },
          { kind: 'text', text: 'A' },
        ],
      },
    ],
  });
  t.same((await ask('tasks/get', { id: second.result.id })).result, second.result);

  const third = await ask('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: POLL }] } });
  t.match(third.result.task, {
    contextId: third.result.task.id,
    status: { state: 'TASK_STATE_COMPLETED', message: { role: 'ROLE_AGENT' } },
    artifacts: [{ parts: [{ data: { winning_option: 'A' }, mediaType: 'application/json' }, { text: 'A' }] }],
  });
  t.notMatch(withoutResult(third), /"kind"/);
  t.same((await ask('GetTask', { id: third.result.task.id })).result, third.result.task);
});

t.test('reasons of models are marked as text that is not ours', async (t) => {
  const { bearer } = await keyWith(5);
  const asked = async (more: object) => (await send(early({ ...POLL, ...more }, { id: randomUUID() }), bearer)).json();
  t.match((await asked({ reasons: true })).artifacts[0].metadata, { untrusted: ['votes[].reason'] });
  t.equal((await asked({})).artifacts[0].metadata, undefined);
});

t.test('[§4.6-a2a-200] a task id chosen by the caller is an idempotency key of that account', async (t) => {
  const [a, b] = [await keyWith(5), await keyWith(5)];
  const first = await send(early(POLL, { id: 'mine: ü' }), a.bearer);
  const before = await stored(context);
  const again = await send(rpc('tasks/send', early(POLL, { id: 'mine: ü' })), a.bearer);
  t.equal(again.headers['idempotent-replayed'], 'true');
  t.same(again.json().result, first.json());
  t.same(await stored(context), before, 'nothing was run and nothing charged');

  const other = await send(early({ ...POLL, options: ['A', 'C'] }, { id: 'mine: ü' }), a.bearer);
  t.match([other.statusCode, other.json().code], [422, 'idempotency_key_reused']);
  const foreign = await send(early(POLL, { id: 'mine: ü' }), b.bearer);
  t.not(foreign.json().metadata.poll_id, first.json().metadata.poll_id);

  const held = await stored(context);
  for (const payload of [early(POLL, { id: 'a' }), rpc('tasks/send', early(POLL, { id: 'a' }))]) {
    const two = await send(payload, { ...a.bearer, 'idempotency-key': 'b' });
    t.match([two.statusCode, two.body], [400, /id and the Idempotency-Key header differ/]);
  }
  t.same(await stored(context), held, 'a key that would be ignored makes no poll');
  const one = await send(early(POLL, { id: 'mine' }), { ...a.bearer, 'idempotency-key': '"mine"' });
  t.match([one.statusCode, one.headers['idempotency-key']], [200, '"mine"'], 'the same twice is one key');

  const key = { ...b.bearer, 'idempotency-key': 'k' };
  const message = { message: { messageId: 'm', role: 'user', parts: [{ kind: 'data', data: POLL }] } };
  const keyed = await send(rpc('message/send', message), key);
  const replayed = await send(rpc('message/send', message), key);
  t.equal(replayed.headers['idempotent-replayed'], 'true');
  t.same(replayed.json(), keyed.json());
});

t.test('[§4.6-a2a-401, §A6-bad-bearer-401] a task without a valid bearer is a 401', async (t) => {
  for (const headers of [{}, { authorization: 'Bearer nonsense' }]) {
    const answer = await send(early(POLL), headers);
    t.equal(answer.statusCode, 401);
    t.match(answer.headers['www-authenticate'], /^Bearer resource_metadata=/);
  }
});

t.test('[§4.6-a2a-402, §7-402-balance] a task without sufficient balance is a 402', async (t) => {
  const { bearer } = await keyWith(0);
  const before = await stored(context);
  const plain = await send(early(POLL), bearer);
  t.match([plain.statusCode, plain.json().code], [402, 'insufficient_balance']);
  const answer = await send(rpc('SendMessage', { message: { messageId: 'm', parts: [{ data: POLL }] } }), bearer);
  t.match(
    [answer.statusCode, answer.json()],
    [
      402,
      {
        jsonrpc: '2.0',
        id: 7,
        error: {
          code: -32_000,
          data: [
            { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INSUFFICIENT_BALANCE' },
            { code: 'insufficient_balance', recovery: [{ action: 'add_funds', url: /^https:/ }, {}] },
          ],
        },
      },
    ],
  );
  t.same(await stored(context), before);
});

t.test('[§4.6-a2a-400, §7-400-task, §4.6-a2a-parts] a message without a valid poll is a 400', async (t) => {
  const { bearer } = await keyWith(5);
  const before = await stored(context);
  const wrong: [unknown, string][] = [
    [{}, 'invalid_task_input'],
    [{ message: 'hello' }, 'invalid_task_input'],
    [{ message: { parts: [] } }, 'invalid_task_input'],
    [{ message: { parts: [{ type: 'text', text: 'Which is larger, A or B?' }] } }, 'invalid_task_input'],
    [{ message: { parts: [{ type: 'text', text: '["A"]' }, null, 7] } }, 'invalid_task_input'],
    [{ ...early(POLL), id: 7 }, 'invalid_task_input'],
    [{ ...early(POLL), id: 'x'.repeat(256) }, 'invalid_task_input'],
    [early({}), 'validation_error'],
    [early({ ...POLL, options: ['A'] }), 'validation_error'],
    [early({ ...POLL, preset: 'none' }), 'invalid_preset'],
    [
      { message: { parts: [{ text: '{"question":"Which of these\\u0000 is it?","options":["A","B"]}' }] } },
      'validation_error',
    ],
    [
      { message: { parts: [{ text: '{"__proto__":{},"question":"Which of these is it?","options":["A","B"]}' }] } },
      'validation_error',
    ],
  ];
  for (const [params, code] of wrong) {
    const plain = await send(params as object, bearer);
    t.match([plain.statusCode, plain.json().code], [400, code], JSON.stringify(params));
    if ('id' in (params as object)) continue;
    const answer = await send(rpc('message/send', params), bearer);
    t.match([answer.statusCode, answer.json().error], [400, { code: -32_602, data: { code } }], JSON.stringify(params));
  }
  const numbers: [object, number][] = [
    [[], -32_600],
    [rpc('message/stream', {}), -32_602],
    [rpc('constructor', {}), -32_601],
    [rpc('SendMessage', []), -32_602],
    [rpc('GetTask', {}), -32_602],
  ];
  for (const [payload, number] of numbers) {
    const answer = await send(payload, bearer);
    t.equal(answer.statusCode, number === -32_601 ? 200 : 400);
    if (!Array.isArray(payload)) t.equal(answer.json().error.code, number, JSON.stringify(payload));
  }
  const version = await send(rpc('SendMessage', {}), { ...bearer, 'a2a-version': '2.0' });
  t.match([version.statusCode, version.json().error.code], [200, -32_009]);
  t.same(await stored(context), before);
});

t.test('[§4.6-a2a-parts] the first part with a poll is used, whatever other parts there are', async (t) => {
  const { bearer } = await keyWith(5);
  const text = (value: unknown) => ({ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) });
  const prompt = {
    prompt: POLL.question,
    options: ['first', 'B'],
    preset: 'fast',
    confidence_threshold: 0.8,
    max_cost_usd: 0.5,
  };
  for (const parts of [
    [text('Please decide.'), text(prompt), text(POLL)],
    [text(POLL), { type: 'data', data: prompt }],
    [{ type: 'file', file: {} }, text(`  ${JSON.stringify(prompt, null, 2)}`)],
  ]) {
    const { artifacts } = (await send({ message: { parts } }, bearer)).json();
    t.match(artifacts[0].parts[0].data, {
      question: POLL.question,
      options: ['first', 'B'],
      preset: 'fast',
      confidence_threshold: 0.8,
      max_cost_usd: 0.5,
    });
  }
});

t.test('[§4.6-a2a-parts] a member of the poll that is null is one that was left out', async (t) => {
  const { bearer } = await keyWith(5);
  const nulls = { preset: null, profile: null, models: null, metadata: null, max_cost_usd: null, prompt: null };
  const tasks = [];
  for (const data of [POLL, { ...POLL, ...nulls }])
    for (const part of [{ data }, { text: JSON.stringify(data) }]) {
      const params = { id: 'nulls', message: { role: 'user', parts: [part] } };
      const answer = await send(rpc('tasks/send', params), bearer);
      t.equal(answer.statusCode, 200, answer.body);
      tasks.push(answer.json().result);
    }
  for (const task of tasks) t.same(task, tasks[0]);
});

t.test('application/a2a+json is accepted here, and is a 415 elsewhere', async (t) => {
  const { bearer } = await keyWith(5);
  const headers = { ...bearer, 'content-type': 'application/a2a+json', 'a2a-version': '1.0' };
  const payload = JSON.stringify(rpc('SendMessage', { message: { messageId: 'm', parts: [{ data: POLL }] } }));
  t.equal((await app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers, payload })).statusCode, 200);
  t.equal((await app.inject({ method: 'POST', url: '/api/poll', headers, payload })).statusCode, 415);
  t.equal((await app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers, payload: '{' })).statusCode, 400);
});

t.test('a non-blocking caller gets a working task and later its end; other accounts get a 404', async (t) => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const slow = await build(t);
  await standInWorker(t, slow.context, { holdUntil: held });
  const [{ bearer }, other] = [await slow.keyWith(5), await slow.keyWith(5)];
  const ask = (payload: object, headers: Record<string, string> = bearer) =>
    slow.app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers, payload });
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'data', data: POLL }] };
  const begun = (await ask(rpc('message/send', { message, configuration: { blocking: false } }))).json().result;
  t.match(begun, { kind: 'task', status: { state: 'working' } });
  t.equal(begun.artifacts, undefined);
  const get = rpc('GetTask', { id: begun.id });
  t.match((await ask(get)).json().result.status.state, 'TASK_STATE_WORKING');
  const foreign = await ask(get, other.bearer);
  t.match([foreign.statusCode, foreign.json().error.code], [200, -32_001]);
  release();
  const state = async () => (await ask(get)).json().result.status.state;
  await eventually('the task has ended', async () => (await state()) !== 'TASK_STATE_WORKING');
  t.equal(await state(), 'TASK_STATE_COMPLETED');

  const { poll_id } = (
    await slow.app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: POLL })
  ).json();
  const sessions = await slow.context.storage.db
    .selectFrom('polls')
    .select('id')
    .where('result_id', '=', poll_id)
    .execute();
  const notATask = await ask(rpc('GetTask', { id: sessions[0]?.id }));
  t.match(
    [notATask.statusCode, notATask.json().error.code],
    [200, -32_001],
    'a poll of another entry point is not a task',
  );
});

t.test('a tie is a completed task; a poll without valid votes is a failed task, both with 200', async (t) => {
  for (const [opinion, state, text] of [
    [
      (seat: number, spec: { seats: unknown[] }) =>
        seat < spec.seats.length - (spec.seats.length % 2) ? seat % 2 : null,
      'completed',
      /^No safe answer yet: "A" \d, "B" \d\n/,
    ],
    [() => null, 'failed', /^No answer: no model gave a valid vote\n/],
  ] as const) {
    const one = await build(t);
    await standInWorker(t, one.context, { opinion });
    const { bearer } = await one.keyWith(5);
    const answer = await one.app.inject({
      method: 'POST',
      url: '/api/a2a/tasks/send',
      headers: bearer,
      payload: early(POLL),
    });
    t.equal(answer.statusCode, 200);
    t.match(answer.json().status, { state, message: { parts: [{ text }] } });
  }
});

t.test('a poll given up by the workers is an error, as JSON-RPC and as plain JSON', async (t) => {
  const one = await build(t);
  await standInWorker(t, one.context, { buries: true });
  const { bearer } = await one.keyWith(5);
  const ask = (payload: object) =>
    one.app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers: bearer, payload });
  t.match((await ask(early(POLL))).json(), { code: 'poll_execution_failed' });
  const answer = await ask(rpc('tasks/send', early(POLL)));
  t.match([answer.statusCode, answer.json().error], [500, { code: -32_603, data: { code: 'poll_execution_failed' } }]);
});

t.test('a stored poll has the A2A entry point', async (t) => {
  const poll = await findPoll(context.storage, ran.at(-1)!);
  t.match(poll?.entryPoint, /^a2a/);
});

t.test('a method that is not a string is -32600, an unknown one -32601', async (t) => {
  const { bearer } = await keyWith(5);
  for (const method of [{ toString: 1 }, { toString: 'tasks/send' }, ['tasks/send'], 5, null, '__proto__']) {
    const answer = await send({ jsonrpc: '2.0', id: 7, method, params: early(POLL) }, bearer);
    const due = method === '__proto__' ? { status: 200, code: -32_601 } : { status: 400, code: -32_600 };
    t.match(
      [answer.statusCode, answer.json()],
      [due.status, { id: 7, error: { code: due.code } }],
      JSON.stringify(method),
    );
  }
});
