import { randomUUID } from 'node:crypto';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { listen, POLL } from '../fixtures/read-stream.ts';

const { app, context, keyWith } = await build(t);
const { bearer } = await keyWith(100);
const origin = await listen(app);

const pollIds = async (): Promise<string[]> => {
  const rows = await context.storage.db.selectFrom('polls').select('id').execute();
  return rows.map(({ id }) => id);
};

/** The id of the poll that this makes. */
async function made(ask: () => void): Promise<string> {
  const before = await pollIds();
  ask();
  return eventually('the poll is stored', async () => (await pollIds()).find((id) => !before.includes(id)));
}

for (const path of ['/api/poll', '/api/poll/stream', '/api/polls']) {
  t.test(`POST ${path}: the retry of a poll that was given up unseen makes a new poll at once`, async (t) => {
    const headers = { ...bearer, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const ask = (signal?: AbortSignal) =>
      fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(POLL), signal: signal ?? null });

    const caller = new AbortController();
    const first = await made(() => void ask(caller.signal).catch(() => undefined));
    caller.abort();
    await eventually('no poll is followed', () => context.rereads.followed() === 0);
    await (await takePoll(context, first)).bury({ silent: true });

    let retried: Promise<Response> | undefined;
    const second = await made(() => {
      retried = ask();
    });
    t.not(second, first);
    const worker = await takePoll(context, second);
    await worker.vote();
    await worker.end();
    const answer = await retried!;
    t.ok(answer.ok);
    t.equal(answer.headers.get('idempotent-replayed'), null);
    await answer.text();
  });
}
