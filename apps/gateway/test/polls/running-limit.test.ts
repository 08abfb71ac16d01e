import { insertKey } from '@eloquentpoll/storage';
import t from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../../src/accounts/keys/api-key.ts';
import { build, PEPPER } from '../fixtures/build.ts';

const POLL = { question: 'Which of the two is larger, please?', options: ['Sun', 'Moon'] };

t.test('an account with as many running polls as it may gets 429; its neighbour does not notice', async (t) => {
  const { app, keyWith } = await build(t, { maxRunningPolls: { account: 3, key: 3, network: 2 } });
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

t.test('a key with as many running polls as it may gets 429; another key of its account does not', async (t) => {
  const { app, context, keyWith } = await build(t, { maxRunningPolls: { account: 3, key: 2, network: 2 } });
  const one = await keyWith(10);
  const key = newApiKey();
  const { accountId } = one;
  await insertKey(context.storage, { accountId, hash: hashApiKey(PEPPER, key), prefix: apiKeyPrefix(key) });
  const start = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/polls', headers, payload: POLL });
  for (let i = 0; i < 2; i++) t.equal((await start(one.bearer)).statusCode, 202);
  const refused = await start(one.bearer);
  t.match([refused.statusCode, refused.json().code], [429, 'too_many_running']);
  t.match(refused.json().error, /2 polls of this key are running/);
  t.equal((await start({ authorization: `Bearer ${key}` })).statusCode, 202);
  t.match((await start({ authorization: `Bearer ${key}` })).json().error, /3 polls are running/);
});

t.test('requests with one idempotency key at once are one poll, also the last that its account may have', async (t) => {
  const { app, keyWith } = await build(t, { maxRunningPolls: { account: 1, key: 1, network: 1 } });
  const { bearer } = await keyWith(10);
  const headers = { ...bearer, 'idempotency-key': 'again' };
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => app.inject({ method: 'POST', url: '/api/polls', headers, payload: POLL })),
  );
  for (const answer of answers) t.equal(answer.statusCode, 202);
  t.equal(new Set(answers.map((answer) => answer.json().session_id)).size, 1);
});

t.test('the form of the playground, too, says when to come back', async (t) => {
  const { app } = await build(t, { maxRunningPolls: { account: 1, key: 1, network: 0 } });
  const payload = 'question=Which+of+these+is+best%3F&option=one&option=two';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const refused = await app.inject({ method: 'POST', url: '/playground', headers, payload });
  t.equal(refused.statusCode, 429);
  t.match(refused.headers['content-type'], 'text/html');
  t.ok(Number(refused.headers['retry-after']) > 0);
  t.match(refused.body, 'Which of these is best?</textarea>', 'it keeps what was typed');
});
