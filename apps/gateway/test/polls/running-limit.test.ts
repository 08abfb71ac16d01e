import t from 'tap';
import { build } from '../fixtures/build.ts';

const POLL = { question: 'Which of the two is larger, please?', options: ['Sun', 'Moon'] };

t.test('an account with as many running polls as it may gets 429; its neighbour does not notice', async (t) => {
  const { app, keyWith } = await build(t, { maxRunningPolls: { account: 3, network: 2 } });
  const [busy, neighbour] = [await keyWith(10), await keyWith(10)];
  const start = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/polls', headers, payload: POLL });
  for (let i = 0; i < 3; i++) t.equal((await start(busy.bearer)).statusCode, 202);
  const refused = await start(busy.bearer);
  t.match([refused.statusCode, refused.json().code], [429, 'too_many_running']);
  t.ok(Number(refused.headers['retry-after']) > 0, 'it says when to come back');
  t.equal((await start(neighbour.bearer)).statusCode, 202);
  const again = await app.inject({
    method: 'POST',
    url: '/api/polls',
    headers: { ...neighbour.bearer, 'idempotency-key': 'one' },
    payload: POLL,
  });
  t.equal(again.statusCode, 202);
});
