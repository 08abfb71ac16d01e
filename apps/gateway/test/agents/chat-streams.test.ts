import { findPollByResult } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { streamWheel } from '../../src/http/sse/stream-wheel.ts';
import { build } from '../fixtures/build.ts';
import { listen } from '../fixtures/read-stream.ts';
import { type Opinion, standInWorker } from '../fixtures/stand-in-worker.ts';
import { withoutPostgres } from '../fixtures/without-postgres.ts';

const { app, context, keyWith } = await build(t);
const { bearer } = await keyWith(10);
const opinion: Opinion = (seat, { question }) => {
  if (question.includes('nothing')) return null;
  return question.includes('tie') && seat < 8 ? seat % 2 : question.includes('tie') ? null : 1;
};
await standInWorker(t, context, { opinion, announcesVotes: true });
const origin = await listen(app);

const ask = (content: string, more: object = {}) => ({
  model: 'eloquentpoll/fast',
  messages: [{ role: 'user', content }],
  stream: true,
  ...more,
});
const post = (body: object, headers: object = {}) =>
  fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** The data of every event. */
async function chunks(body: object, headers: object = {}) {
  const answer = await post(body, headers);
  const events = (await answer.text()).split('\n\n').filter((event) => event !== '' && !event.startsWith(':'));
  return { answer, data: events.map((event) => event.replace(/^data: /, '')) };
}

t.test('role, winner, end, and a last line', async (t) => {
  const { answer, data } = await chunks(ask('Which of these is larger? [A, B]'));
  t.equal(answer.headers.get('content-type'), 'text/event-stream');
  t.equal(answer.headers.get('access-control-allow-origin'), '*');
  t.equal(data.pop(), '[DONE]');
  const all = data.map((text) => JSON.parse(text));
  t.equal(new Set(all.map(({ id }) => id)).size, 1);
  t.same(
    all.map(({ choices }) => choices),
    [
      [{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: { content: 'B' }, logprobs: null, finish_reason: null }],
      [{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }],
    ],
  );
  t.match(all.at(-1), {
    object: 'chat.completion.chunk',
    model: 'eloquentpoll/fast',
    eloquentpoll: { winning_option: 'B' },
  });
  t.ok(await findPollByResult(context.storage, all.at(-1).eloquentpoll.poll_id));
  t.notOk(all.some((chunk) => 'usage' in chunk));
});

t.test('a tool call, a tie and a poll without votes', async (t) => {
  const parameters = { type: 'object', properties: { label: { enum: ['A', 'B'] } }, required: ['label'] };
  const tools = [{ type: 'function', function: { name: 'pick', parameters } }];
  const called = await chunks(ask('Which of these is larger?', { tools, tool_choice: 'required' }));
  t.match(JSON.parse(called.data[1]!).choices[0].delta, {
    tool_calls: [{ index: 0, id: /^call_/, type: 'function', function: { name: 'pick', arguments: '{"label":"B"}' } }],
  });
  t.equal(JSON.parse(called.data[2]!).choices[0].finish_reason, 'tool_calls');
  const model = 'eloquentpoll/broad';
  const tied = await chunks(ask('Make a tie of this. [A, B]', { model }));
  t.match(JSON.parse(tied.data[1]!).choices[0].delta, { refusal: /A 4, B 4/ });
  const failed = await chunks(ask('Say nothing at all. [A, B]'));
  t.match(JSON.parse(failed.data.at(-1)!), { error: { code: 'poll_failed', request_id: /./ } });
  t.notOk(failed.data.includes('[DONE]'), 'an error is no end');
});

t.test('what is wrong is said before the first chunk', async (t) => {
  const answer = await post(ask('Which of these is larger?'));
  t.equal(answer.status, 400);
  t.match(await answer.json(), { error: { param: 'messages' } });
});

t.test('the same Idempotency-Key follows the same poll', async (t) => {
  const headers = { 'idempotency-key': 'stream-1' };
  const [first, again] = [
    await chunks(ask('One poll, two streams? [A, B]'), headers),
    await chunks(ask('One poll, two streams? [A, B]'), headers),
  ];
  t.equal(again.answer.headers.get('idempotent-replayed'), 'true');
  const pollOf = (data: string[]) => JSON.parse(data.at(-2)!);
  t.equal(pollOf(again.data).eloquentpoll.poll_id, pollOf(first.data).eloquentpoll.poll_id);
  t.equal(pollOf(again.data).id, pollOf(first.data).id);
});

t.test('a caller who leaves frees the stream, and the poll goes on', async (t) => {
  const gateway = await build(t);
  const { bearer: key } = await gateway.keyWith(10);
  const { promise: holdUntil, resolve: release } = Promise.withResolvers<void>();
  const { ran } = await standInWorker(t, gateway.context, { holdUntil });
  const leave = new AbortController();
  const answer = await fetch(`${await listen(gateway.app)}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify(ask('Who waits for this one? [A, B]')),
    signal: leave.signal,
  });
  const reader = answer.body!.getReader();
  t.match(new TextDecoder().decode((await reader.read()).value), /"role":"assistant"/, 'the role comes at once');
  for (let i = 0; i < 15; i++) gateway.context.streams.turn();
  t.equal(new TextDecoder().decode((await reader.read()).value), ': alive\n\n', 'and then comments');
  t.equal(gateway.context.streams.count(), 1);
  leave.abort();
  await eventually('the stream is closed', () => gateway.context.streams.count() === 0);
  release();
  await eventually('the poll is run', () => ran.length === 1);
});

t.test('a stream whose poll has no end that can be read says so, and not that the poll was not run', async (t) => {
  let seconds = 0;
  const streams = streamWheel(() => seconds * 1_000);
  const gateway = await build(t, {}, { streams });
  const { bearer: key } = await gateway.keyWith(10);
  const url = `${await listen(gateway.app)}/v1/chat/completions`;
  const lastOf = async (isAway: boolean) => {
    const body = JSON.stringify(ask('Does this one end? [A, B]'));
    const answer = await fetch(url, { method: 'POST', headers: { ...key, 'content-type': 'application/json' }, body });
    const away = isAway ? withoutPostgres(t, gateway.context) : null;
    for (let turn = 0; turn < 128 + 15; turn++) {
      seconds += 1;
      streams.turn();
    }
    const events = (await answer.text()).trimEnd().split('\n\n');
    away?.restore();
    return JSON.parse(events.at(-1)!.replace(/^data: /, ''));
  };
  for (const isAway of [false, true]) {
    const { error } = await lastOf(isAway);
    t.match(error, { code: 'service_unavailable', message: /not known yet/, session_id: /^ps_/ });
    const found = await gateway.app.inject({ url: `/api/polls/${error.session_id}/result`, headers: key });
    t.equal(found.statusCode, 202, 'and where it is found');
  }
});
