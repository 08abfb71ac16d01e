import { deadlineMsOf } from '@eloquentpoll/polls';
import { StorageUnavailable } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { END_GRACE_MS } from '../../src/polls/run/poll-follower.ts';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { withoutPostgres } from '../fixtures/without-postgres.ts';

// slow: 40 s

// Callers who wait for a poll whose end cannot be read: it may have been billed, so none of them hears that it failed.

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const WAITS_MS = deadlineMsOf({ panel_name: 'broad' }) + END_GRACE_MS;

/** The waits for polls end when the test says so. */
function heldWaits(t: Test): { end(): Promise<void> } {
  const plain = globalThis.setTimeout;
  const waits: (() => void)[] = [];
  const held = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    if (ms === WAITS_MS) waits.push(() => work(...args));
    return plain(work, ms, ...args);
  };
  t.intercept(globalThis, 'setTimeout', { value: Object.assign(held, plain) });
  return {
    async end() {
      await eventually('the caller waits', () => waits.length > 0);
      for (const work of waits.splice(0)) work();
    },
  };
}

const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
const MESSAGE = { role: 'user', parts: [{ type: 'data', data: POLL }] };
const ACCEPT = { accept: 'application/json, text/event-stream' };

/** With the key of each, by which a repeat finds the poll. */
const REQUESTS: readonly { name: string; url: string; payload: object; headers?: Record<string, string> }[] = [
  { name: 'a poll', url: '/api/poll', payload: POLL, headers: { 'idempotency-key': 'k' } },
  {
    name: 'a chat completion',
    url: '/v1/chat/completions',
    payload: { model: 'eloquentpoll/broad', messages: [{ role: 'user', content: `${POLL.question} [A, B]` }] },
    headers: { 'idempotency-key': 'k' },
  },
  { name: 'a task', url: '/api/a2a/tasks/send', payload: rpc('tasks/send', { id: 'k', message: MESSAGE }) },
  {
    name: 'a tool',
    url: '/api/mcp',
    payload: rpc('tools/call', { name: 'poll_question', arguments: { ...POLL, idempotency_key: 'k' } }),
    headers: ACCEPT,
  },
];

const { app, context, keyWith } = await build(t);
/** Where workers run; Postgres is not away there. */
const { context: elsewhere } = await replicaOf(t, context);

type Sent = Omit<(typeof REQUESTS)[number], 'name'>;

/** A caller who has asked nothing yet. */
async function caller() {
  const { bearer, accountId } = await keyWith(10);
  return {
    bearer,
    send: async ({ url, payload, headers }: Sent) =>
      app.inject({ method: 'POST', url, headers: { ...bearer, ...headers }, payload }),
    pollId: () =>
      eventually('the poll is stored', async () => {
        const polls = elsewhere.storage.db.selectFrom('polls').select('id').where('account_id', '=', accountId);
        return (await polls.executeTakeFirst())?.id;
      }),
  };
}

for (const { name, ...request } of REQUESTS)
  t.test(`${name} whose end cannot be read is a 503 with its session, and a repeat has the result`, async (t) => {
    for (const isHeard of [true, false]) {
      const { send, pollId } = await caller();
      const waits = heldWaits(t);
      const asked = send(request);
      const id = await pollId();
      const worker = await takePoll(elsewhere, id);
      await worker.vote();
      await eventually('the caller waits', () => context.rereads.followed() === 1);
      const away = withoutPostgres(t, context);
      const { poll_id } = await worker.end({ silent: true });
      if (isHeard) {
        const { accountId, epoch } = worker.claim;
        const end = { ...worker.running(), seq: 9, status: 'completed' as const, result_id: poll_id };
        // As its worker does, which knows who waits.
        await context.bus.runs.end(id, epoch, String(accountId), end);
      } else await waits.end();
      const answer = await asked;
      t.match(answer.body, /service_unavailable/);
      t.notMatch(answer.body, /poll_execution_failed/);
      t.match(answer.body, id, 'its session');
      if (name !== 'a tool') t.match([answer.statusCode, answer.headers['retry-after']], [503, '2']);
      away.restore();
      t.match((await send(request)).body, poll_id);
    }
  });

t.test(
  'a poll that has not ended a little after its deadline may still end, and is found by its session',
  async (t) => {
    const { send, bearer, pollId } = await caller();
    const waits = heldWaits(t);
    const asked = send({ url: '/api/poll', payload: POLL });
    const id = await pollId();
    await waits.end();
    const answer = await asked;
    t.match([answer.statusCode, answer.json()], [503, { code: 'service_unavailable', session_id: id }]);
    const worker = await takePoll(elsewhere, id);
    await worker.vote();
    const { poll_id } = await worker.end();
    const { session_id } = answer.json();
    t.match((await app.inject({ url: `/api/polls/${session_id}/result`, headers: bearer })).json(), { poll_id });
  },
);

t.test('clients of the OpenAI API do not repeat such a poll by themselves without a key, and find it', async (t) => {
  const { send, bearer, pollId } = await caller();
  const waits = heldWaits(t);
  const asked = send({ ...REQUESTS[1]!, headers: {} });
  const id = await pollId();
  await waits.end();
  const answer = await asked;
  t.match([answer.statusCode, answer.headers['x-should-retry']], [503, 'false']);
  const { error } = answer.json();
  t.match(error, { code: 'service_unavailable', type: 'server_error', message: /not known yet/, session_id: id });
  const worker = await takePoll(elsewhere, id);
  await worker.vote();
  const { poll_id } = await worker.end();
  const found = await app.inject({ url: `/api/polls/${error.session_id}/result`, headers: bearer });
  t.match(found.json(), { poll_id }, 'and what was paid for is found');
});

const NONE_MADE = /no poll was made of this request and nothing was charged/;
/** What is machine-readable of a refusal, by how it was asked. */
const refusalOf = {
  'a poll': (answer: object) => answer,
  'a chat completion': (answer: object) => Object(answer).error,
  'a task': (answer: object) => Object(answer).error.data,
  'a tool': (answer: object) => JSON.parse(Object(answer).result.content[0].text),
} as const;
const parsedOf = (body: string) => JSON.parse(body.slice(body.indexOf('{')));

for (const { name, ...request } of REQUESTS)
  t.test(`${name} that gets no connection to Postgres says so: none was made, and when to ask again`, async (t) => {
    const { send } = await caller();
    // A dry run of nothing: from now on the key is known without Postgres.
    t.equal((await send({ url: '/api/poll/dry-run', payload: POLL })).statusCode, 200);
    const away = withoutPostgres(t, context);
    const answer = await send(request);
    away.restore();
    const refusal = refusalOf[name as keyof typeof refusalOf](parsedOf(answer.body));
    t.match(refusal, { code: 'service_unavailable' });
    t.match(JSON.stringify(refusal), NONE_MADE);
    t.notMatch(answer.body, 'session_id');
    const waits = { recovery: [{ action: 'back_off', after_seconds: 2 }], retryable: true };
    if (name === 'a tool' || name === 'a task') t.match(refusal, waits);
    if (name !== 'a tool') t.match([answer.statusCode, answer.headers['retry-after']], [503, '2']);
    t.equal(answer.headers['x-should-retry'], undefined, 'clients of the OpenAI API repeat it by themselves');
  });

t.test('a poll whose acceptance was not answered may have been made: it is named, and a repeat joins it', async (t) => {
  const { send, pollId } = await caller();
  const accept = context.acceptPoll;
  const lost = t.intercept(context, 'acceptPoll', {
    value: async (...given: Parameters<typeof accept>) => {
      await accept(...given);
      throw new StorageUnavailable('the answer was lost');
    },
  });
  const chat = { ...REQUESTS[1]!, headers: {} };
  const answer = await send(chat);
  lost.restore();
  const id = await pollId();
  t.match([answer.statusCode, answer.headers['x-should-retry']], [503, 'false']);
  t.match(answer.json().error, { message: /Whether a poll was made .* is not known/, session_id: id });
  const again = send(chat);
  const worker = await takePoll(elsewhere, id);
  await worker.vote();
  const { poll_id } = await worker.end();
  t.match((await again).json(), { eloquentpoll: { poll_id } }, 'without a key, too');
  const { n } = await elsewhere.storage.db
    .selectFrom('polls')
    .select(({ fn }) => fn.countAll<bigint>().as('n'))
    .where(
      'account_id',
      '=',
      (
        await elsewhere.storage.db
          .selectFrom('polls')
          .select('account_id')
          .where('id', '=', id)
          .executeTakeFirstOrThrow()
      ).account_id,
    )
    .executeTakeFirstOrThrow();
  t.equal(n, 1n);
});

/** Postgres answers so many times and is away then. */
function failingAfter(t: Test, times: number): { restore(): void } {
  const pool = context.storage.pool as unknown as { connect(...given: unknown[]): Promise<unknown> };
  const plain = pool.connect.bind(pool);
  let left = times;
  const connect = (...given: unknown[]) =>
    left-- > 0 ? plain(...given) : Promise.reject(new Error('Postgres is away'));
  return t.intercept(pool, 'connect', { value: connect });
}

t.test('wherever Postgres goes away under a task of MCP, the call fails and not the task', async (t) => {
  const { send, pollId } = await caller();
  const TASKS = 'io.modelcontextprotocol/tasks';
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { [TASKS]: {} } },
  };
  const ask = async (method: string, params: object, name: string) => {
    const headers = { ...ACCEPT, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, 'mcp-name': name };
    const { body } = await send({ url: '/api/mcp', headers, payload: rpc(method, { ...params, _meta }) });
    return JSON.parse(body.slice(body.indexOf('{')));
  };
  /** The answers while Postgres is away, and the first one after it was there long enough. */
  async function untilAnswered(call: () => Promise<{ result?: { taskId?: string } }>) {
    const refused: object[] = [];
    for (let times = 0; times < 20; times++) {
      const away = failingAfter(t, times);
      const answer = await call();
      away.restore();
      if (answer.result?.taskId) return { refused, answer };
      refused.push(answer);
    }
    throw new Error('it is never answered');
  }

  const call = { name: 'poll_question', arguments: { ...POLL, idempotency_key: 'k' } };
  const begun = await untilAnswered(() => ask('tools/call', call, call.name));
  const id = await pollId();
  t.match(begun.answer, { result: { taskId: id, status: 'working' } });
  t.ok(begun.refused.length > 1);
  for (const refusal of begun.refused) t.match(JSON.stringify(refusal), /service_unavailable/);
  const worker = await takePoll(elsewhere, id);
  await worker.vote();
  const { poll_id } = await worker.end();
  const read = await untilAnswered(() => ask('tasks/get', { taskId: id }, id));
  t.ok(read.refused.length > 1);
  t.match(read.answer, { result: { status: 'completed', result: { structuredContent: { poll_id } } } });
});
