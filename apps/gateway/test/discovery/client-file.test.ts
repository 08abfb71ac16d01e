import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EloquentPoll } from '@eloquentpoll/client/eloquentpoll.ts';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

const QUESTION = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

const { app, context, keyWith, sessionFor } = await build(t);
await standInWorker(t, context);
await app.listen({ host: '127.0.0.1', port: 0 });
const baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

t.test('[§4.7-client-file] the typed client, as it is copied into a project', async (t) => {
  const answer = await app.inject({ url: '/eloquentpoll.ts' });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'text/plain; charset=utf-8');
  t.equal(answer.headers['access-control-allow-origin'], '*');
  const unchanged = await app.inject({ url: '/eloquentpoll.ts', headers: { 'if-none-match': answer.headers.etag } });
  t.equal(unchanged.statusCode, 304);

  const file = join(t.testdir(), 'eloquentpoll.ts');
  await writeFile(file, answer.body);
  const copied: typeof import('@eloquentpoll/client/eloquentpoll.ts') = await import(file);
  t.equal(copied.BASE_URL, 'https://polls.example', 'it knows where it came from');
  const { key } = await keyWith(5);
  const result = await new copied.EloquentPoll({ baseUrl, apiKey: key }).ask(QUESTION);
  t.match(result, { outcome: 'A', status: 'success' });
});

t.test('what needs a login is open to a session', async (t) => {
  const { accountId, key } = await keyWith(5);
  const { poll_id } = await new EloquentPoll({ baseUrl, apiKey: key }).ask(QUESTION);
  const { cookie } = await sessionFor(accountId);
  const polls = new EloquentPoll({ baseUrl, session: cookie.slice('ep_session='.length) });
  t.match(await polls.history({ limit: 5 }), [{ resultId: poll_id, winningOption: 'A' }]);
  t.match(await polls.recent(), [{ resultId: poll_id }]);
  const { balance_cents, balance } = await polls.balance();
  t.ok(balance_cents < 500);
  t.equal(balance, `$${(balance_cents / 100).toFixed(2)}`);
});
