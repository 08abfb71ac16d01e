import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { replicaOf } from '../fixtures/replica.ts';

// Clients that repeat every 5xx by themselves: a gateway that ends answers 503, and the repeat comes to another one.

const { app, context, keyWith } = await build(t);
const { db } = context.storage;
const { bearer, accountId } = await keyWith(50);

const ask = (text: string, more: object = {}) => ({
  model: 'eloquentpoll/broad',
  messages: [{ role: 'user', content: `${text} [A, B]` }],
  ...more,
});
const send = (payload: object, headers: Record<string, string> = bearer, to = app) =>
  to.inject({ method: 'POST', url: '/v1/chat/completions', headers, payload });
const pollsOf = async (account: string) =>
  (await db.selectFrom('polls').select('id').where('account_id', '=', account).orderBy('id').execute()).map(
    ({ id }) => id,
  );

/** The answer to a request without a key whose poll goes on. */
async function leave(payload: object, account = accountId, headers: Record<string, string> = bearer) {
  const ending = await replicaOf(t, context);
  const before = await pollsOf(account);
  const asked = send(payload, headers, ending.app);
  const id = await eventually('the poll is stored', async () =>
    (await pollsOf(account)).find((each) => !before.includes(each)),
  );
  ending.context.shutdown.end();
  return { id, answer: await asked };
}

async function finish(id: string) {
  const worker = await takePoll(context, id);
  await worker.vote();
  await worker.end();
}

t.test('a request that is repeated after its 503 joins the poll, while it runs and when it has ended', async (t) => {
  for (const [text, stream, isRunning] of [
    ['Which is larger?', false, true],
    ['Which is smaller?', false, false],
    ['Which is older?', true, true],
    ['Which is newer?', true, false],
  ] as const) {
    const { id, answer } = await leave(ask(text));
    t.match([answer.statusCode, answer.headers['x-should-retry']], [503, 'false'], text);
    const before = await pollsOf(accountId);
    if (!isRunning) await finish(id);
    const repeat = send(ask(text, { stream }));
    if (isRunning) {
      await eventually('the repeat waits for the poll', () => context.rereads.followed() === 1);
      await finish(id);
    }
    const { statusCode, headers, body } = await repeat;
    t.match([statusCode, headers['idempotent-replayed']], [200, 'true'], body);
    t.match(body, id, 'the same poll');
    t.same(await pollsOf(accountId), before, 'and no second one');
  }
});

t.test('it is joined once, by its account and by the same order alone', async (t) => {
  const text = 'Which is heavier?';
  const { id } = await leave(ask(text));
  await finish(id);
  const other = await keyWith(10);
  /** The poll that a request makes. */
  const made = async (payload: object, headers: Record<string, string> = bearer, account = accountId) => {
    const before = await pollsOf(account);
    const answer = send(payload, headers);
    const own = await eventually('a poll is stored', async () =>
      (await pollsOf(account)).find((each) => !before.includes(each)),
    );
    await finish(own);
    t.equal((await answer).statusCode, 200);
  };
  await made(ask(text), other.bearer, other.accountId);
  await made(ask('Which is lighter?'));
  await made(ask(text, { max_cost_usd: 0.5 }));
  await made(ask(text), { ...bearer, 'idempotency-key': 'k' });
  t.match((await send(ask(text))).body, id);
  await made(ask(text));
});

t.test('a repeat that has no answer either leaves the poll to the next one', async (t) => {
  const text = 'Which is wider?';
  const { id } = await leave(ask(text));
  const before = await pollsOf(accountId);
  const ending = await replicaOf(t, context);
  const again = send(ask(text), bearer, ending.app);
  await eventually('the repeat waits for the poll', () => ending.context.rereads.followed() === 1);
  ending.context.shutdown.end();
  t.equal((await again).statusCode, 503);
  await finish(id);
  t.match((await send(ask(text))).body, id);
  t.same(await pollsOf(accountId), before);
});

t.test('a repeat that is refused leaves the poll to the next one', async (t) => {
  const text = 'Which is deeper?';
  const { id } = await leave(ask(text));
  await finish(id);
  const before = await pollsOf(accountId);
  const closing = await replicaOf(t, context);
  closing.context.shutdown.close();
  t.equal((await send(ask(text, { stream: true }), bearer, closing.app)).statusCode, 503);
  t.match((await send(ask(text))).body, id);
  t.same(await pollsOf(accountId), before);
});

t.test('a poll that was given up is not joined', async (t) => {
  const text = 'Which is longer?';
  const { id } = await leave(ask(text));
  await (await takePoll(context, id)).bury();
  const before = await pollsOf(accountId);
  const repeat = send(ask(text));
  const own = await eventually('a poll is stored', async () =>
    (await pollsOf(accountId)).find((each) => !before.includes(each)),
  );
  await finish(own);
  t.equal((await repeat).statusCode, 200);
});
