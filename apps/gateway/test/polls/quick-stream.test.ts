import t from 'tap';
import { build } from '../fixtures/build.ts';
import { listen, POLL, readStream } from '../fixtures/read-stream.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

const { app, context, keyWith } = await build(t);
await standInWorker(t, context, { announcesVotes: true });
const origin = await listen(app);
const events = { accept: 'text/event-stream' };
const quick = (headers: Record<string, string>, body: unknown = POLL) =>
  readStream(t, origin, headers, { path: '/api/quick-poll', body });

t.test('a free quick poll sends its events to a caller that asks for them', async (t) => {
  const reading = await quick(events);
  t.equal(reading.status, 200);
  t.equal(reading.headers.get('content-type'), 'text/event-stream');
  const all = await reading.all();
  t.match(all[0], { event: 'started', data: { question: POLL.question, options: POLL.options, preset: 'free' } });
  t.ok(all.length > 2, 'votes are sent as they arrive');
  t.same(
    all.filter(({ event }) => event !== 'started').map(({ event, data }) => [event, data.status]),
    [['complete', 'success']],
  );
  t.match(all.at(-1)!.data.poll_id, /^EP-/);
});

t.test('the same key follows the same poll', async (t) => {
  const headers = { ...events, 'idempotency-key': 'one-poll' };
  const [first] = (await (await quick(headers)).all()).slice(-1);
  const again = await quick(headers);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.equal((await again.all()).at(-1)!.data.poll_id, first!.data.poll_id);
});

t.test('what is wrong is said before the first event, and everybody else gets JSON', async (t) => {
  const post = (accept: string, body: object = POLL) =>
    fetch(`${origin}/api/quick-poll`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    });
  const wrong = await post('text/event-stream', { ...POLL, options: ['one'] });
  t.equal(wrong.status, 400);
  t.match(await wrong.json(), { code: 'validation_error' });
  for (const accept of ['*/*', 'text/*', 'application/json, text/event-stream', 'text/event-stream;q=0']) {
    const answer = await post(accept);
    t.match(answer.headers.get('content-type'), 'application/json', accept);
    t.match(await answer.json(), { theme: 'free', cost: 0 });
  }
});

t.test('a reader that reconnects follows the same poll and buys no other', async (t) => {
  const { bearer } = await keyWith(5);
  const polls = async () => (await context.storage.db.selectFrom('polls').select('id').execute()).length;
  const PAID = { ...POLL, preset: 'fast' };
  for (const [path, body, credentials] of [
    ['/api/poll', PAID, bearer],
    ['/api/poll', { ...POLL, theme: 'free' }, {}],
    ['/api/quick-poll', PAID, bearer],
    ['/api/quick-poll', { ...POLL, theme: 'free' }, bearer],
    ['/api/quick-poll', POLL, {}],
  ] as const) {
    const what = `${path} ${JSON.stringify(body)} ${Object.keys(credentials)}`;
    const read = (more: Record<string, string> = {}) =>
      readStream(t, origin, { ...events, ...credentials, ...more }, { path, body });
    const all = await (await read()).all();
    const [first, end] = [all[0]!, all.at(-1)!];
    t.match(end.id, /^ps_\w+:end$/);
    const before = await polls();
    const over = await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...events, ...credentials, 'last-event-id': end.id },
      body: JSON.stringify(body),
    });
    t.equal(over.status, 204, what);
    const again = await read({ 'last-event-id': first.id });
    if ('authorization' in credentials) {
      t.equal(again.status, 200, what);
      const last = (await again.all()).at(-1)!;
      t.same([last.id, last.data], [end.id, end.data], what);
    } else t.equal(again.status, 404, what);
    t.equal(await polls(), before, 'nothing was begun');
  }
});
