import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { openFaultProxy } from '../src/proxy/fault-proxy.ts';
import { UNDISTURBED } from '../src/proxy/link-conditions.ts';
import { wholeService } from './whole-service.ts';

// slow: 5 s

// Whatever way a caller came, a moment in which the gateway gets no connection to Postgres is a slow answer.

const QUESTION = { question: 'Which of these is the longest word?', options: ['sea', 'incomprehensibility'] };
const MODELS = { 'sim/*': { voter: 'longest' as const } };
const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });

/** What each way of asking is sent, and what its answer says of a poll that ended well. */
const WAYS = [
  { url: '/api/poll', payload: QUESTION, right: /"winning_option":"incomprehensibility"/ },
  { url: '/api/polls', payload: QUESTION, right: /"status":"running"/ },
  { url: '/api/poll/stream', payload: QUESTION, right: /event: complete/ },
  {
    url: '/api/mcp',
    payload: rpc('tools/call', { name: 'poll_question', arguments: QUESTION }),
    right: /"structuredContent":\{.*"winning_option":"incomprehensibility"/,
  },
  {
    url: '/api/a2a/tasks/send',
    payload: rpc('message/send', {
      message: { role: 'user', messageId: 'm', parts: [{ kind: 'data', data: QUESTION }] },
    }),
    right: /"winning_option":"incomprehensibility"/,
  },
  {
    url: '/v1/chat/completions',
    payload: {
      model: 'eloquentpoll/fast',
      messages: [{ role: 'user', content: `${QUESTION.question} [${QUESTION.options.join(', ')}]` }],
    },
    right: /"content":"incomprehensibility"/,
  },
  { url: '/api/polls?limit=1', right: /"polls"/ },
  { url: '/api/usage/balance', right: /balance/ },
] as const;

t.test('all ways to ask and to read wait while Postgres takes no connection, and are answered', async (t) => {
  const databaseUrl = new URL(await testDatabase(t));
  const link = await openFaultProxy('postgres', { host: databaseUrl.hostname, port: Number(databaseUrl.port) });
  t.teardown(() => link[Symbol.asyncDispose]());
  databaseUrl.hostname = '127.0.0.1';
  databaseUrl.port = String(link.port);
  const settings = { DATABASE_URL: databaseUrl.href };
  const { app, gateway, headers } = await wholeService(t, {}, { recordedVotes: null, models: MODELS }, settings);
  const send = ({ url, payload }: { url: string; payload?: object }) =>
    app.inject({
      url,
      method: payload ? 'POST' : 'GET',
      headers: { ...headers, accept: 'application/json, text/event-stream' },
      ...(payload && { payload }),
    });
  t.equal((await send({ url: '/api/usage/balance' })).statusCode, 200, 'the key is known from now on');
  link.set({ refuse: true });
  link.reset();
  await eventually('the connections are gone', () => gateway.storage.pool.totalCount === 0);
  const before = link.refused;
  const sent = WAYS.map(async ({ right, ...request }) => ({ right, answer: await send(request) }));
  await eventually('each of them was refused a connection', () => link.refused >= before + WAYS.length);
  link.set(UNDISTURBED);
  for (const { right, answer } of await Promise.all(sent)) {
    t.ok(answer.statusCode < 300, `${answer.statusCode}`);
    t.match(answer.body, right);
  }
});
