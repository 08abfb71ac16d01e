import { newPollId } from '@eloquentpoll/polls';
import { claimPoll, findPoll, wasCanceled } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { storeEnd, voteFor } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const { app, context, keyWith, sessionFor } = await build(t);
const { accountId, bearer } = await keyWith(100);
const cookie = await sessionFor(accountId);
const heard: string[] = [];
context.bus.onCancel((pollId) => heard.push(pollId));

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const begin = async (headers: object = {}): Promise<string> =>
  (await app.inject({ method: 'POST', url: '/api/polls', headers: { ...bearer, ...headers }, payload: POLL })).json()
    .session_id;
const cancel = (id: string, headers: object = bearer) =>
  app.inject({ method: 'POST', url: `/api/polls/${id}/cancel`, headers: { ...headers } });
const read = async (id: string, what: 'status' | 'result') =>
  app.inject({ url: `/api/polls/${id}/${what}`, headers: bearer });

t.test('a poll that waits ends at once: failed, and nothing is charged', async (t) => {
  const key = { 'idempotency-key': 'canceled-1' };
  const id = await begin(key);
  for (const headers of [bearer, cookie, { ...bearer, 'idempotency-key': 'any' }]) {
    const answer = await cancel(id, headers);
    t.equal(answer.statusCode, 200, answer.body);
    t.match(answer.json(), { session_id: id, status: 'failed', result_id: null });
  }
  t.match((await read(id, 'status')).json(), { session_id: id, status: 'failed', result_id: null });
  const { snapshot } = (await context.bus.runs.read(id))!;
  t.match(snapshot, { status: 'failed', seq: 1, result_id: null }, 'readers of the run record find its end there');
  const result = await read(id, 'result');
  t.match([result.statusCode, result.json().code], [422, 'poll_canceled']);
  const page = `/result/${(await findPoll(context.storage, id))!.resultId}`;
  t.match((await app.inject({ url: page, headers: cookie })).body, /<h1>Poll canceled/);
  t.equal(await begin(key), id, 'a retry of its request does not bring it back');
});

t.test('its caller, who waits in another request, hears of it', async (t) => {
  const waiting = app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: POLL });
  const id = await eventually('the poll is stored', async () => {
    const { polls } = (await app.inject({ url: '/api/polls?limit=1&status=running', headers: bearer })).json();
    return polls[0]?.session_id as string | undefined;
  });
  await cancel(id);
  const answer = await waiting;
  t.match([answer.statusCode, answer.json().code], [422, 'poll_canceled']);
});

t.test('one that is canceled while its worker is gone says so with the votes that it has, to everybody', async (t) => {
  const id = await begin();
  await claimPoll(context.storage, id, 'gone', 0);
  void cancel(id);
  await eventually('it is canceled', () => wasCanceled(context.storage, id));
  const next = (await claimPoll(context.storage, id, 'next'))!;
  const votes = [0, 1].map((option, seat) => voteFor(next.spec, seat, option));
  await storeEnd(context, next, votes, null);
  const canceled = /The poll was canceled: \d+ of \d+ models were not asked/;
  const own = (await read(id, 'result')).json();
  t.match(own.verdict.text, canceled);
  t.notOk('canceled' in own || 'code' in own);
  const { verdict } = (await app.inject({ url: `/api/results/${own.poll_id}` })).json();
  t.match(verdict.text, canceled);
  const page = (await app.inject({ url: `/result/${own.poll_id}` })).body;
  t.match(page, canceled);
  t.match(page, />Canceled</);
});

t.test('a poll that runs ends with the votes that it has, and the answer waits for it', async (t) => {
  const id = await begin();
  const worker = await takePoll(context, id);
  await worker.open();
  await worker.vote(0);
  const answer = cancel(id);
  await eventually(
    'the worker can hear of it',
    async () => heard.includes(id) && (await wasCanceled(context.storage, id)),
  );
  await worker.vote(null, 'aborted');
  await worker.end();
  const ended = (await answer).json();
  t.match(ended, { session_id: id, status: 'completed', result_id: /^EP-/ });
  for (const url of [`/result/${ended.result_id}`, '/dashboard'])
    t.match((await app.inject({ url, headers: cookie })).body, />Canceled</, url);
  t.match((await cancel(id)).json(), { status: 'completed' }, 'and stays as it is');
  t.equal((await read(id, 'result')).statusCode, 200);
});

t.test('of others, and of nothing, it is nothing', async (t) => {
  const theirs = await keyWith(10);
  const id = await begin();
  const refused = [await cancel(id, theirs.bearer), await cancel(newPollId()), await cancel('x')];
  t.same(
    refused.map(({ statusCode }) => statusCode),
    [404, 404, 404],
  );
  t.equal(new Set(refused.map((answer) => answer.json().error)).size, 1);
  t.equal((await cancel(id, {})).statusCode, 401);
  t.match((await read(id, 'status')).json(), { status: 'running' });
});

t.test('include=result: the status of an ended poll has its result, or why there is none', async (t) => {
  const whole = (id: string, headers: object = {}) =>
    app.inject({ url: `/api/polls/${id}/status?include=result`, headers: { ...bearer, ...headers } });
  const id = await begin();
  t.same((await whole(id)).json(), (await read(id, 'status')).json(), 'nothing more while it runs');
  const worker = await takePoll(context, id);
  await worker.vote(0);
  await worker.end();
  const answer = await whole(id);
  t.same(answer.json(), { ...(await read(id, 'status')).json(), result: (await read(id, 'result')).json() });
  const { etag } = answer.headers;
  t.not(etag, (await read(id, 'status')).headers.etag);
  t.equal((await whole(id, { 'if-none-match': etag })).statusCode, 304);

  const canceled = await begin();
  await cancel(canceled);
  t.match((await whole(canceled)).json(), { status: 'failed', failure: { code: 'poll_canceled', error: /canceled/ } });
  const failed = await begin();
  const other = await takePoll(context, failed);
  await other.vote(null);
  await other.end();
  t.match((await whole(failed)).json(), { status: 'failed', failure: { code: 'poll_failed' } });
  const theirs = await keyWith(1);
  t.equal((await whole(id, theirs.bearer)).statusCode, 404);
  t.equal((await app.inject({ url: `/api/polls/${id}/status?include=votes`, headers: bearer })).statusCode, 400);
});

t.test('a task of A2A is canceled like its poll', async (t) => {
  const rpc = async (method: string, params: object) => {
    const payload = { jsonrpc: '2.0', id: 1, method, params };
    return (await app.inject({ method: 'POST', url: '/api/a2a/tasks/send', headers: bearer, payload })).json();
  };
  const message = { messageId: 'm-1', role: 'user', parts: [{ kind: 'data', data: POLL }] };
  const { id } = (await rpc('message/send', { message, configuration: { blocking: false } })).result;
  t.match(await rpc('tasks/cancel', { id }), { result: { id, status: { state: 'canceled' } } });
  t.match(
    await rpc('CancelTask', { id }),
    { result: { id, status: { state: 'TASK_STATE_CANCELED' } } },
    'safe to repeat',
  );
  t.match(await rpc('tasks/get', { id }), { result: { id, status: { state: 'canceled' } } });
  t.match((await rpc('ListTasks', { status: 'TASK_STATE_CANCELED' })).result, { tasks: [{ id }], totalSize: 1 });
  t.match((await rpc('ListTasks', { status: 'TASK_STATE_FAILED' })).result, { tasks: { length: 0 }, totalSize: 0 });

  const first = {
    message: { role: 'user', parts: [{ type: 'data', data: POLL }] },
    configuration: { blocking: false },
  };
  await rpc('tasks/send', { id: 'named', sessionId: 'ours', ...first });
  const named = (await rpc('tasks/cancel', { id: 'named' })).result;
  t.match(named, { id: 'named', sessionId: 'ours', status: { state: 'canceled' } }, 'in the form of version 0.1');
  t.notOk('kind' in named || 'contextId' in named);

  const second = (await rpc('message/send', { message, configuration: { blocking: false } })).result.id;
  const worker = await takePoll(context, second);
  await worker.vote(0);
  const canceling = rpc('CancelTask', { id: second });
  await eventually('the worker can hear of it', () => heard.includes(second));
  await worker.end();
  t.match(await canceling, { result: { status: { state: 'TASK_STATE_CANCELED' }, artifacts: [{}] } });
});
