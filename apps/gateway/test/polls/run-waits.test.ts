import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';

// slow: 3 s

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

const { app, context, keyWith } = await build(t);
const { bearer } = await keyWith(100);

async function begin() {
  const answer = await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: POLL });
  const id: string = answer.json().session_id;
  const worker = await takePoll(context, id);
  await worker.open();
  return { id, worker };
}

const status = (id: string, headers: Record<string, string> = {}) =>
  app.inject({ url: `/api/polls/${id}/status`, headers: { ...bearer, ...headers } });

const idle = () => context.bus.watched() === 0 && context.rereads.followed() === 0;
const waiting = () => eventually('one poll is watched', () => context.bus.watched() === 1);

t.test('[§A6-status-etag] a caller with the newest answer gets 304 without it', async (t) => {
  const { id, worker } = await begin();
  const first = await status(id);
  t.equal(first.headers.etag, '"0"');
  for (const known of ['"0"', 'W/"0"', '"7", "0"', '*']) {
    const same = await status(id, { 'if-none-match': known });
    t.same([same.statusCode, same.body], [304, ''], known);
    t.match(same.headers, { etag: '"0"', 'cache-control': 'private, no-cache', 'retry-after': '1' });
    t.notOk(same.headers['content-type']);
    t.ok(same.headers['ratelimit-remaining']);
  }
  t.equal((await status(id, { 'if-none-match': '"1", 0' })).statusCode, 200);
  await worker.vote();
  t.equal((await status(id, { 'if-none-match': '"0"' })).headers.etag, '"1"');
  await worker.end();
  const ended = await status(id, { 'if-none-match': '"1"' });
  t.equal(ended.json().status, 'completed');
  t.equal((await status(id, { 'if-none-match': ended.headers.etag as string })).statusCode, 304);
  t.equal((await status('ps_nothing', { 'if-none-match': '*' })).statusCode, 404);
});

t.test('[§A6-status-prefer-wait] one request is enough to see the end', async (t) => {
  const { id, worker } = await begin();
  const asked = status(id, { prefer: 'wait=30' });
  await waiting();
  await worker.vote();
  await worker.vote();
  const response = await worker.end();
  const answer = await asked;
  t.same(answer.json(), { session_id: id, status: 'completed', result_id: response.poll_id });
  t.equal(answer.headers['preference-applied'], 'wait=30');
  t.notOk(answer.headers['retry-after']);
  t.ok(idle(), 'nothing is subscribed');
  const again = await status(id, { prefer: 'wait=30' });
  t.equal(again.json().status, 'completed', 'and what has ended is not waited for');
  t.equal(again.headers['preference-applied'], 'wait=30');
});

t.test('a caller that sends its last tag is answered at every vote', async (t) => {
  const { id, worker } = await begin();
  let tag = '"0"';
  for (let votes = 1; votes <= 3; votes++) {
    const asked = status(id, { prefer: 'wait=30', 'if-none-match': tag });
    await waiting();
    await worker.vote();
    const answer = await asked;
    t.match([answer.statusCode, answer.json().progress.received], [200, votes]);
    tag = String(answer.headers.etag);
    await eventually('no stream and no watch is left', idle);
  }
  const behind = await status(id, { prefer: 'wait=30', 'if-none-match': '"1"' });
  t.equal(behind.json().progress.received, 3, 'a caller that is behind is answered at once');
  const asked = status(id, { prefer: 'wait=30', 'if-none-match': tag });
  await waiting();
  await worker.end();
  t.equal((await asked).json().status, 'completed');
});

t.test('when the time is over the answer is the present state: 200, or 304 to a caller that has it', async (t) => {
  const { id } = await begin();
  const [news, none] = await Promise.all([
    status(id, { prefer: 'wait=1' }),
    status(id, { prefer: 'wait=1', 'if-none-match': '"0"' }),
  ]);
  t.match([news.statusCode, news.json().status, news.headers['preference-applied']], [200, 'running', 'wait=1']);
  t.same([none.statusCode, none.body, none.headers['preference-applied']], [304, '', 'wait=1']);
  t.ok(idle());
});

t.test('a wait that is nonsense or zero is no wait; one that is too long is cut', async (t) => {
  const { id, worker } = await begin();
  for (const [prefer, applied] of [
    ['wait=0', 'wait=0'],
    ['wait=-5', undefined],
    ['wait', undefined],
    ['respond-async', undefined],
  ] as const) {
    const answer = await status(id, { prefer });
    t.same([answer.statusCode, answer.headers['preference-applied']], [200, applied], prefer);
  }
  const asked = status(id, { prefer: 'respond-async, wait="3600"' });
  await waiting();
  await worker.end();
  t.equal((await asked).headers['preference-applied'], 'wait=30');
});

t.test('twenty long polls of one run share one subscription', async (t) => {
  const { id, worker } = await begin();
  const asked = Array.from({ length: 20 }, () => status(id, { prefer: 'wait=30' }));
  await eventually(
    'the poll is watched and followed',
    () => context.bus.watched() === 1 && context.rereads.followed() === 1,
  );
  await worker.vote();
  await worker.end();
  for (const answer of await Promise.all(asked)) t.equal(answer.json().status, 'completed');
  t.ok(idle());
});

t.test('a caller who disconnects leaves no subscription', async (t) => {
  const { id } = await begin();
  const other = await build(t, context.config);
  const origin = await other.app.listen({ host: '127.0.0.1', port: 0 });
  const caller = new AbortController();
  const asked = fetch(`${origin}/api/polls/${id}/status`, {
    headers: { ...bearer, prefer: 'wait=30' },
    signal: caller.signal,
  });
  await eventually('the other gateway watches the poll', () => other.context.bus.watched() === 1);
  caller.abort();
  await t.rejects(asked);
  await eventually(
    'the other gateway follows nothing',
    () => other.context.bus.watched() === 0 && other.context.rereads.followed() === 0,
  );
});

t.test('a gateway that closes answers its long polls first', async (t) => {
  const { id } = await begin();
  const other = await build(t, context.config);
  const origin = await other.app.listen({ host: '127.0.0.1', port: 0 });
  const asked = fetch(`${origin}/api/polls/${id}/status`, { headers: { ...bearer, prefer: 'wait=30' } });
  await eventually('the other gateway watches the poll', () => other.context.bus.watched() === 1);
  const closed = other.app.close();
  const answer = await asked;
  t.match([answer.status, await answer.json()], [200, { status: 'running' }]);
  await closed;
});
