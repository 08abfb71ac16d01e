import { cancelPoll } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { listen, POLL, readStream } from '../fixtures/read-stream.ts';
import { replicaOf } from '../fixtures/replica.ts';
import { withoutPostgres } from '../fixtures/without-postgres.ts';

// slow: 3 s

t.test('a canceled task whose state cannot be read is not called completed or failed', async (t) => {
  const { app, context, keyWith, log } = await build(t);
  const { context: elsewhere } = await replicaOf(t, context);
  const { accountId, bearer } = await keyWith(5);
  const origin = await listen(app);
  const call = (method: string, params: object) =>
    readStream(t, origin, bearer, {
      path: '/api/a2a/tasks/send',
      body: { jsonrpc: '2.0', id: 1, method, params },
    });
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'data', data: POLL }] };
  const stream = await call('message/stream', { message });
  const { id } = (await stream.next())!.data.result;
  const worker = await takePoll(elsewhere, id);
  await worker.vote();
  await cancelPoll(elsewhere.storage, accountId, id);
  const away = withoutPostgres(t, context);
  await worker.end();
  const heard = await stream.all();
  for (const { data } of heard) t.not(data.result.final, true, JSON.stringify(data));
  await eventually('the log says why', () => log.some((line) => line.includes('stream.result_unread')));
  away.restore();
  const again = await call('tasks/resubscribe', { id });
  t.match((await again.all()).at(-1), { data: { result: { id, status: { state: 'canceled' } } } });
});
