import { newPollId } from '@eloquentpoll/polls';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
await standInWorker(t, context, { opinion: (seat, { question }) => (question.includes('split') ? seat % 2 : 0) });
const { accountId, bearer } = await keyWith(100);
const cookie = await sessionFor(accountId);

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };
const begin = async (payload: object = {}, headers: object = bearer): Promise<string> => {
  const request = {
    method: 'POST',
    url: '/api/polls',
    headers: { ...headers },
    payload: { ...POLL, ...payload },
  } as const;
  return (await app.inject(request)).json().session_id;
};
const list = (query = '', headers: object = bearer) =>
  app.inject({ url: `/api/polls${query}`, headers: { ...headers } });
const idsIn = (answer: Awaited<ReturnType<typeof list>>): string[] =>
  answer.json().polls.map(({ session_id }: { session_id: string }) => session_id);

const asked: string[] = [];
for (let i = 0; i < 5; i++) asked.unshift(await begin({ metadata: { customer: `c-${i % 2}`, 'a]b': 'x&y' } }));
const split = await begin({ question: 'On which of these are models split?' });
const theirs = await keyWith(10);
const foreign = await begin({ metadata: { customer: 'c-0' } }, theirs.bearer);
await eventually('all have ended', async () => !/"running"/.test((await list()).body));

t.test('a key and a login see the polls of the account, newest first, with what is theirs alone', async (t) => {
  for (const headers of [bearer, cookie]) t.same(idsIn(await list('', headers)), [split, ...asked]);
  t.equal((await list('', {})).statusCode, 401);
  const [line] = (await list('?limit=1&metadata[customer]=c-0')).json().polls;
  t.match(line, {
    session_id: asked[0],
    status: 'completed',
    result_id: /^EP-/,
    question: POLL.question,
    preset: 'broad',
    metadata: { customer: 'c-0', 'a]b': 'x&y' },
    key_id: /^[0-9a-f-]{36}$/,
    is_tie: false,
    created_at: /^\d{4}-/,
    ended_at: /^\d{4}-/,
  });
  t.ok(line.cost_usd > 0);
  t.same(idsIn(await list('?close=true')), [split]);
  t.same(idsIn(await list(`?key_id=${line.key_id}&status=completed`)), [split, ...asked]);
  t.same(idsIn(await list('?status=failed')), []);
  t.same(idsIn(await list(`?metadata[customer]=c-1&${new URLSearchParams([['metadata[a]b]', 'x&y']])}`)), [
    asked[1],
    asked[3],
  ]);
});

t.test('times long before and after all polls leave none out', async (t) => {
  const ever = ['1970-01-01', '0001-01-01', '2020-01-01'].map((day) => `?created_after=${day}T00:00:00Z`);
  const never = ['2110-01-01', '2150-01-01', '9999-12-31'].map((day) => `?created_before=${day}T00:00:00Z`);
  for (const query of [...ever, ...never]) t.same(idsIn(await list(query)), [split, ...asked], query);
});

t.test('pages follow each other in both directions, with the filters kept in Link', async (t) => {
  const linkOf = (answer: Awaited<ReturnType<typeof list>>, rel: string): string =>
    new URL(new RegExp(`<([^>]+)>; rel="${rel}"`).exec(String(answer.headers.link))?.[1] ?? 'https://none').search;
  const first = await list('?limit=2&preset=broad&metadata[a]b]=x%26y');
  t.match([idsIn(first), first.json().has_more, first.json().before], [asked.slice(0, 2), true, null]);
  const second = await list(linkOf(first, 'next'));
  t.same(idsIn(second), asked.slice(2, 4));
  const third = await list(linkOf(second, 'next'));
  t.match([idsIn(third), third.json()], [asked.slice(4), { has_more: false, after: null }]);
  t.notMatch(String(third.headers.link), 'rel="next"');
  const back = await list(linkOf(third, 'prev'));
  t.same(idsIn(back), asked.slice(2, 4));
  t.same(idsIn(await list(linkOf(back, 'prev'))), asked.slice(0, 2));
});

t.test('ids of others, and of nothing, are refused alike', async (t) => {
  const refused = await Promise.all([foreign, newPollId(), 'x'].map((id) => list(`?after=${id}`)));
  t.same(new Set(refused.map((answer) => `${answer.statusCode} ${answer.json().error}`)).size, 1);
  t.equal(refused[0]!.statusCode, 400);
  const theirKey = (await list('', theirs.bearer)).json().polls[0].key_id;
  t.match((await list(`?key_id=${theirKey}`)).json(), { polls: { length: 0 }, has_more: false });
  for (const query of [
    '?limit=0',
    '?limit=101',
    '?status=done',
    '?close=perhaps',
    '?metadata=x',
    '?created_after=today',
    '?created_after=2016-12-31T23:59:60Z',
    '?key_id=1',
    '?key_id=urn:uuid:00000000-0000-4000-8000-000000000000',
  ])
    t.equal((await list(query)).statusCode, 400, query);
  t.match((await list(`?after=${split}&before=${split}`)).json().error, /^before and after/);
  for (const name of ['state', 'metadata.customer', 'Status']) {
    const answer = await list(`?status=completed&${name}=running`);
    t.match([answer.statusCode, answer.json().error], [400, new RegExp(`^${name} is not known here`)]);
  }
});

t.test('the statuses of many ids, in one request', async (t) => {
  const status = (ids: string, headers: object = bearer) =>
    app.inject({ url: `/api/polls/status?ids=${ids}`, headers: { ...headers } });
  const unknown = newPollId();
  const { polls, not_found } = (
    await status([asked[1], foreign, 'nothing', asked[0], unknown, asked[1]].join())
  ).json();
  t.match(
    polls,
    [asked[1], asked[0]].map((session_id) => ({ session_id, status: 'completed', result_id: /^EP-/ })),
  );
  t.same(not_found, [foreign, 'nothing', unknown]);
  t.match((await status(foreign, theirs.bearer)).json(), {
    polls: [{ session_id: foreign }],
    not_found: { length: 0 },
  });
  t.equal((await status(split, cookie)).json().polls.length, 1);
  t.equal((await status(Array.from({ length: 101 }, () => newPollId()).join())).statusCode, 400);
  t.equal((await status(',')).statusCode, 400);
  t.equal((await status(split, {})).statusCode, 401);
});
