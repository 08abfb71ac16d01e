import { findPoll, findPollByResult } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const gateway = await build(t);
const { app, context, keyWith } = gateway;
await standInWorker(t, context);
const { accountId, bearer } = await keyWith(100);

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const metadata = { customer: 'acme-4711', empty: '' };
const post = (url: string, payload: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url, headers: { ...headers }, payload });
const idIn = ({ body }: { body: string }): string => /EP-[\w-]+/.exec(body)?.[0] ?? body;
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const metadataOf = async (pollId: string): Promise<unknown> =>
  (await context.storage.db.selectFrom('polls').select('metadata').where('id', '=', pollId).executeTakeFirst())
    ?.metadata;

t.test('every way to ask stores it with the poll, for the account alone', async (t) => {
  const message = { messageId: 'm-1', role: 'user', parts: [{ kind: 'data', data: { ...POLL, metadata } }] };
  const chat = {
    model: 'eloquentpoll/fast',
    messages: [{ role: 'user', content: `${POLL.question} [A, B]` }],
    metadata,
  };
  const tool = rpc('tools/call', { name: 'poll_question', arguments: { ...POLL, metadata } });
  const asked = {
    sync: (await post('/api/poll', { ...POLL, metadata })).json().poll_id,
    stream: idIn(await post('/api/poll/stream', { ...POLL, metadata })),
    quick: (await post('/api/quick-poll', { ...POLL, metadata })).json().poll_id,
    free: (await post('/api/quick-poll', { ...POLL, theme: 'free', metadata })).json().poll_id,
    mcp: idIn(await post('/api/mcp', tool, { ...bearer, accept: 'application/json, text/event-stream' })),
    chat: (await post('/v1/chat/completions', chat)).json().eloquentpoll.poll_id,
  };
  const session = (await post('/api/polls', { ...POLL, metadata })).json().session_id;
  const task = (await post('/api/a2a/tasks/send', rpc('message/send', { message }))).json().result.id;
  for (const [way, resultId] of Object.entries(asked)) {
    const poll = await findPollByResult(context.storage, resultId);
    t.same(await metadataOf(poll!.id), metadata, way);
    const detail = await app.inject({ url: `/api/results/${resultId}` });
    for (const shown of [detail.body, JSON.stringify(poll!.spec)]) t.notMatch(shown, /acme-4711|customer/, way);
  }
  for (const id of [session, task]) t.same(await metadataOf(id), metadata);
  t.notMatch(JSON.stringify((await findPoll(context.storage, session))!.spec), /acme-4711/);
});

t.test('limits are said by field; without an account it is refused', async (t) => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  for (const [wrong, status] of [
    [many(17), 400],
    [many(16), 202],
    [{ ['k'.repeat(65)]: 'v' }, 400],
    [{ ['k'.repeat(64)]: 'v'.repeat(512) }, 202],
    [{ k: 'v'.repeat(513) }, 400],
    [{ '': 'v' }, 400],
    [{ k: 1 }, 400],
    [{ k: null }, 400],
    [{ k: 'a\0b' }, 400],
    ['a=b', 400],
    [{}, 202],
    [{ ['😀'.repeat(64)]: '😀'.repeat(512) }, 202],
  ] as const) {
    const answer = await post('/api/polls', { ...POLL, metadata: wrong });
    t.equal(answer.statusCode, status, answer.body);
    if (status === 400) t.match(answer.json().error, /metadata/);
  }
  for (const url of ['/api/quick-poll', '/api/poll'])
    t.match((await post(url, { q: POLL.question, o: POLL.options, metadata }, {})).json(), {
      error: /^metadata needs an API key/,
    });
});

t.test('a key of the wrong length is named once, and the object is not said to be what its key is', async (t) => {
  const { bearer } = await keyWith(1);
  for (const key of ['', 'k'.repeat(65)]) {
    const payload = { question: 'Which of these is the best choice?', options: ['A', 'B'], metadata: { [key]: 'v' } };
    const answer = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
    t.equal(answer.json().error, `metadata has the key "${key}", which is too short or too long`);
  }
});

t.test('the same Idempotency-Key with other metadata is another request', async (t) => {
  const headers = { ...bearer, 'idempotency-key': 'metadata-1' };
  const first = await post('/api/polls', { ...POLL, metadata: { a: '1', b: '2' } }, headers);
  const again = await post('/api/polls', { ...POLL, metadata: { b: '2', a: '1' } }, headers);
  t.equal(again.json().session_id, first.json().session_id);
  for (const other of [{ a: '1' }, { a: '1', b: '3' }, {}])
    t.match((await post('/api/polls', { ...POLL, metadata: other }, headers)).json(), {
      code: 'idempotency_key_reused',
    });
});

t.test('each pair has one row to be found by', async (t) => {
  const id = (await post('/api/polls', { ...POLL, metadata: { ab: 'c', a: 'bc' } })).json().session_id;
  const labels = await context.storage.db
    .selectFrom('poll_labels')
    .select('label')
    .where('account_id', '=', accountId)
    .where('poll_id', '=', id)
    .execute();
  t.equal(new Set(labels.map(({ label }) => label.toString('hex'))).size, 2);
});
