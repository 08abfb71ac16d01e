import { newPollId, newResultId } from '@eloquentpoll/polls';
import { emptyExpiredPolls } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { placesOf } from '../fixtures/places-of.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 4 s

const MARK = 'Xylographic';
const gateway = await build(t, { receipts: { key: Buffer.alloc(32, 7), pastKeys: [] } });
const { app, context, keyWith, sessionFor } = gateway;
const replica = await replicaOf(t, context);
const { accountId, bearer } = await keyWith(100);
const cookie = await sessionFor(accountId);
const POLL = {
  question: `Which ${MARK} press is the best choice?`,
  options: [`${MARK} A`, `${MARK} B`],
  metadata: { press: MARK },
  reasons: true,
};
const post = (url: string, payload: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url, headers: { ...headers }, payload });
const remove = (id: string, headers: object = bearer, at = app) =>
  at.inject({ method: 'DELETE', url: `/api/results/${id}`, headers: { ...headers } });

let waiting = '';
t.test('a poll that runs is canceled first', async (first) => {
  const { session_id: id } = (await post('/api/polls', POLL)).json();
  const refused = await remove(id);
  first.match([refused.statusCode, refused.json().code], [409, 'poll_running']);
  first.match(refused.json().error, new RegExp(`POST /api/polls/${id}/cancel`), 'and says the way out');
  first.equal((await post(`/api/polls/${id}/cancel`, {})).json().status, 'failed');
  waiting = id;
  // Until the end of the file.
  await standInWorker(t, context, { announcesVotes: true });
});

interface Asked {
  session: string;
  result: string;
}

/** A poll with all that can hang on one, read on both gateways. */
async function asked(more: object = {}): Promise<Asked> {
  const headers = { ...bearer, 'idempotency-key': `${MARK}-${newPollId()}` };
  const { session_id: session } = (await post('/api/polls', { ...POLL, ...more }, headers)).json();
  const status = await eventually('it has ended', async () => {
    const answer = await app.inject({ url: `/api/polls/${session}/status`, headers: { ...bearer, prefer: 'wait=10' } });
    return answer.json().status === 'completed' && answer;
  });
  const result = status.json().result_id;
  t.equal((await post('/api/feedback', { poll_id: result, outcome_correct: true, notes: MARK })).statusCode, 201);
  for (const path of readable({ session, result }))
    t.equal((await replica.app.inject({ url: path, headers: { ...bearer } })).statusCode, 200, path);
  return { session, result };
}

const readable = ({ session, result }: Asked): string[] => [
  `/api/polls/${session}/status`,
  `/api/polls/${session}/result`,
  ...shared(result),
];
const shared = (result: string): string[] => [
  `/api/results/${result}`,
  `/api/results/${result}/receipt`,
  `/api/graph/mermaid/${result}`,
  `/result/${result}`,
  `/result/${result}/card.png`,
];
const listed = async (): Promise<string[]> =>
  (await app.inject({ url: '/api/polls', headers: bearer })).json().polls.map((line: Listed) => line.session_id);
interface Listed {
  session_id: string;
}

t.test('a deleted poll is gone from every address of every gateway, table and key of Redis', async (t) => {
  const { bearer: theirs } = await keyWith(1);
  const [byKey, byLogin] = [await asked(), await asked()];
  const { etag } = (await app.inject({ url: `/api/results/${byKey.result}` })).headers;
  const places = await placesOf(gateway, MARK);
  for (const place of ['polls', 'results', 'feedback', 'idempotency'])
    t.ok(places.has(place), `${place} has it before`);

  for (const id of [byKey.session, byKey.result, newPollId(), newResultId(), 'x'])
    t.equal((await remove(id, theirs)).statusCode, 404, 'of others, and of nothing');
  t.equal((await remove(byKey.session, {})).statusCode, 401);
  t.match((await remove(byKey.session)).json(), { deleted: true, session_id: byKey.session });
  t.match((await remove(byLogin.result, cookie)).json(), { deleted: true, session_id: byLogin.session });
  t.equal((await remove(waiting)).statusCode, 200, 'and one without a result');
  t.equal((await remove(byKey.result)).statusCode, 404, 'it is gone');

  for (const one of [byKey, byLogin]) {
    for (const path of readable(one)) {
      t.equal((await app.inject({ url: path, headers: { ...bearer } })).statusCode, 404, path);
      await eventually(`the other gateway has heard of it: ${path}`, async () => {
        const { statusCode } = await replica.app.inject({ url: path, headers: { ...bearer } });
        return statusCode === 404;
      });
    }
    t.match((await app.inject({ url: `/api/feedback/${one.result}` })).json(), { total_feedback: 0 });
  }
  const again = await app.inject({ url: `/api/results/${byKey.result}`, headers: { 'if-none-match': etag } });
  t.equal(again.statusCode, 404, 'a cache that has it hears that it is gone');
  t.same(await listed(), []);
  t.same((await app.inject({ url: '/api/results', headers: cookie })).json(), []);
  t.same(await placesOf(gateway, MARK), new Set());
  t.same(await gateway.asOwner('select 1 from poll_labels'), []);
  t.match(await gateway.asOwner('select count(*)::integer as n from transfers where poll_id is not null'), [{ n: 6 }]);
});

t.test('caches have to ask whether a result is still there', async (t) => {
  const one = await asked();
  for (const url of shared(one.result)) {
    const { headers } = await app.inject({ url });
    t.match(headers, { 'cache-control': 'public, no-cache', etag: /^"/ }, url);
    const again = await app.inject({ url, headers: { 'if-none-match': headers.etag } });
    t.match([again.statusCode, again.body], [304, ''], url);
  }
  await remove(one.session);
});

t.test('a poll lives as long as it says, and no longer than the service keeps polls', async (t) => {
  const year = 365 * 86_400;
  for (const [expires_in, seconds] of [
    [7_200, 7_200],
    [undefined, year],
    [2 * year, year],
  ]) {
    const one = await asked({ expires_in });
    const { expires_at } = (await app.inject({ url: `/api/results/${one.result}` })).json();
    t.ok(Math.abs(Date.parse(expires_at) - Date.now() - 1_000 * seconds!) < 130_000, `${expires_in}: ${expires_at}`);
    const { polls } = (await app.inject({ url: '/api/polls?limit=1', headers: bearer })).json();
    t.match(polls, [{ session_id: one.session, expires_at }]);
    const own = await app.inject({ url: `/api/polls/${one.session}/result`, headers: bearer });
    t.equal(own.json().expires_at, expires_at);
    const history = (await app.inject({ url: '/api/results?limit=1', headers: cookie })).json();
    t.match(history, [{ expiresAt: expires_at }]);
  }
  for (const expires_in of [3_599, 315_360_001, 1e4 + 0.5, '7200']) {
    for (const url of ['/api/poll', '/api/polls', '/api/poll/stream', '/api/quick-poll']) {
      const refused = await post(url, { ...POLL, expires_in });
      t.match([refused.statusCode, refused.body], [400, /expires_in/], `${url} ${expires_in}`);
    }
  }
});

t.test('one whose time is over is gone at once, and emptied when a worker comes by', async (t) => {
  const [over, kept] = [await asked({ expires_in: 3_600 }), await asked()];
  const rpc = async (method: string, params: object) =>
    (await post('/api/a2a/tasks/send', { jsonrpc: '2.0', id: 1, method, params })).json().result;
  const parts = [{ data: { question: POLL.question, options: POLL.options } }];
  const task = async () =>
    (await rpc('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts } })).task.id;
  const [overTask, keptTask] = [await task(), await task()];
  t.equal((await rpc('ListTasks', {})).totalSize, 2);
  await gateway.asOwner(`update polls set expires_at = now() where id = '${overTask}'`);
  t.match(await rpc('ListTasks', {}), { tasks: [{ id: keptTask }], totalSize: 1, pageSize: 1 });
  await gateway.asOwner(`update polls set expires_at = now() where id = '${over.session}'`);
  await gateway.asOwner(`update results set expires_at = now() where poll_id = '${over.session}'`);
  for (const url of shared(over.result)) t.equal((await app.inject({ url })).statusCode, 404, url);
  t.equal((await post('/api/feedback', { poll_id: over.result, outcome_correct: true })).statusCode, 404);
  t.match((await app.inject({ url: `/api/feedback/${over.result}` })).json(), { total_feedback: 0 });
  t.ok(!(await listed()).includes(over.session));
  t.ok((await listed()).includes(kept.session));
  const emptied = await emptyExpiredPolls(context.storage);
  t.ok(emptied.includes(over.session) && !emptied.includes(kept.session));
  t.same(await emptyExpiredPolls(context.storage), []);
  t.match(await gateway.asOwner(`select spec ? 'question' as whole from polls where id = '${over.session}'`), [
    { whole: false },
  ]);
});
