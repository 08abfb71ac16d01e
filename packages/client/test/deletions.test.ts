import t, { type Test } from 'tap';
import { EloquentPoll } from '../src/eloquentpoll.ts';
import { serve, withoutWaiting } from './service.ts';

// A deletion whose answer is lost is repeated, and finds nothing.

const DELETIONS: [string, (polls: EloquentPoll) => Promise<unknown>, object][] = [
  ['a poll', (polls) => polls.deletePoll('ps_1'), { deleted: true, session_id: 'ps_1' }],
  ['a poll by its result', (polls) => polls.deletePoll('EP-1'), { deleted: true, session_id: '' }],
  ['an endpoint', (polls) => polls.removeWebhookEndpoint('we_1'), { removed: true }],
  ['a batch', (polls) => polls.batchRun('pb_1').delete(), { batch_id: 'pb_1', deleted: true }],
];

/** Answers with these statuses in turn; 0 is a connection that breaks. A 404 is the service's own unless `isProxy`. */
async function service(t: Test, statuses: number[], { isProxy = false } = {}) {
  const { url, asked } = await serve(t, (_asked, response, nth) => {
    const status = statuses[nth - 1] ?? 500;
    if (status === 0) return void response.socket?.destroy();
    response.statusCode = status;
    if (status !== 404) return { error: 'Later', code: 'later', retryable: true };
    return isProxy ? '<h1>Not found</h1>' : { error: 'There is none.', code: 'result_not_found', retryable: false };
  });
  return { polls: new EloquentPoll({ baseUrl: url, pace: false }), asked };
}

t.test('what an attempt without an answer may have deleted counts as deleted when it is not there', async (t) => {
  withoutWaiting(t);
  for (const [what, remove, gone] of DELETIONS) {
    for (const statuses of [
      [0, 404],
      [503, 404],
      [0, 429, 404],
    ]) {
      const { polls, asked } = await service(t, statuses);
      t.same(await remove(polls), gone, `${what}: ${statuses}`);
      t.same(new Set(asked.map(({ method }) => method)), new Set(['DELETE']));
      t.equal(asked.length, statuses.length);
    }
  }
});

t.test('what was not there before any attempt is an error, and so is a 404 of a proxy', async (t) => {
  withoutWaiting(t);
  for (const [what, remove] of DELETIONS) {
    for (const statuses of [[404], [429, 404]]) {
      const { polls } = await service(t, statuses);
      await t.rejects(remove(polls), { code: 'result_not_found', status: 404 }, `${what}: ${statuses}`);
    }
    const { polls } = await service(t, [0, 404], { isProxy: true });
    await t.rejects(remove(polls), { code: 'http_404', status: 404 }, `${what}: of a proxy`);
  }
});
