import { once } from 'node:events';
import { ExportLine } from '@eloquentpoll/contracts';
import { pollIdsOfMonth } from '@eloquentpoll/polls';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { issuesOf } from '../../src/http/validation/validator.ts';
import { build } from '../fixtures/build.ts';
import { listen } from '../fixtures/read-stream.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const gateway = await build(t);
const { app, context, keyWith, sessionFor } = gateway;
await standInWorker(t, context);
const { accountId, bearer, key } = await keyWith(100);
const cookie = await sessionFor(accountId);
const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'], metadata: { team: 'blue' } };
const send = (method: 'POST' | 'PUT', url: string, payload: object, headers: object = bearer) =>
  app.inject({ method, url, headers: { ...headers }, payload });

type Line = ExportLine & Record<string, unknown>;

async function exported(cursor?: string, headers: object = bearer): Promise<Line[]> {
  const url = cursor === undefined ? '/api/export' : `/api/export?cursor=${encodeURIComponent(cursor)}`;
  const answer = await app.inject({ url, headers: { ...headers } });
  t.equal(answer.statusCode, 200, answer.body);
  t.match(answer.headers, { 'content-type': 'application/jsonl', 'cache-control': 'private, no-store' });
  t.ok(answer.body.endsWith('\n'));
  return answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const models = context.panels
  .models()
  .slice(0, 3)
  .map(({ id }) => id);
const first = (await send('POST', '/api/poll', POLL)).json();
await send('PUT', '/api/panels/night', { models });
await send('POST', '/api/feedback', { poll_id: first.poll_id, outcome_correct: true, notes: 'as I thought' });
await send('POST', '/api/keys', { label: 'other' });
// More than two pages, of which some were accepted in the same moment.
await gateway.asOwner(`
  insert into polls (id, result_id, account_id, status, spec, entry_point, lease_until, created_at, deadline_at, finished_at)
  select '${pollIdsOfMonth(new Date())}' || lpad(n::text, 22, '0'), 'EP-2026-01-01-' || n, account_id, 'failed', spec, 'polls', now(),
         now() - interval '1 day' + n / 7 * interval '1 us', now(), now()
    from polls, generate_series(1, 250) n where result_id = '${first.poll_id}'`);

t.test('an export has every line of an account, of the shape that it promises, and no secret', async (t) => {
  const lines = await exported();
  for (const line of lines) t.same(issuesOf(ExportLine, line), [], line.type);
  const counts = Object.fromEntries(
    [...Map.groupBy(lines, ({ type }) => type)].map(([type, { length }]) => [type, length]),
  );
  t.match(counts, { account: 1, key: 2, panel: 1, feedback: 1, poll: 251, transfer: 3, end: 1 });
  t.equal(lines.at(-1)!.type, 'end');
  const ofType = (type: string) => lines.filter((line) => line.type === type);
  t.match(ofType('account'), [{ user_id: accountId, balance_usd: 100 - first.costs.total_estimated_cost }]);
  t.match(ofType('feedback'), [{ poll_id: first.poll_id, outcome_correct: true, notes: 'as I thought' }]);
  t.match(ofType('transfer'), [{ kind: 'credit', amount_usd: 100 }, { kind: 'hold' }, { kind: 'post' }]);
  const [, hold, post] = ofType('transfer');
  t.match(post, { hold_id: hold!.id, session_id: hold!.session_id, amount_usd: first.costs.total_estimated_cost });
  const poll = ofType('poll').at(-1)!;
  t.same(poll.result, first, 'the answer as it was given, votes and all');
  t.match(poll, { result_id: first.poll_id, metadata: { team: 'blue' }, session_id: hold!.session_id });
  t.notOk(JSON.stringify(lines).includes(key.slice(10)));
  t.same(await exported(undefined, cookie), lines, 'a login has the same');
});

t.test('a broken export goes on after any of its cursors, and nothing is left out or comes twice', async (t) => {
  const lines = await exported();
  const cursors = lines.flatMap((line, i) => (line.type === 'cursor' ? [[i, String(line.cursor)] as const] : []));
  t.ok(cursors.length >= 8, `${cursors.length} cursors`);
  for (const [i, cursor] of cursors) t.same(await exported(cursor), lines.slice(i + 1), cursor);
  const ids = lines.flatMap(({ type, session_id }) => (type === 'poll' ? [session_id] : []));
  t.equal(new Set(ids).size, 251);
});

t.test('of one account what is its own, and for cursors that are none a 400', async (t) => {
  const theirs = await keyWith(0);
  const others = (await exported(undefined, theirs.bearer)).filter(({ type }) => type !== 'cursor');
  t.same(
    others.map(({ type }) => type),
    ['account', 'key', 'end'],
  );
  const cursors = (await exported()).flatMap((line) => (line.type === 'cursor' ? [String(line.cursor)] : []));
  for (const cursor of cursors) {
    const lines = await exported(cursor, theirs.bearer);
    t.same(
      lines.filter(({ type }) => type === 'poll' || type === 'transfer' || type === 'feedback' || type === 'panel'),
      [],
    );
  }
  const forged = ['polls:x', 'transfers:1;2', "keys:' or 1=1", 'polls:ps_1 99999999999999999', 'none', ''].map((text) =>
    Buffer.from(text).toString('base64url'),
  );
  for (const cursor of [...forged, '%', 'x'.repeat(201)]) {
    const refused = await app.inject({ url: `/api/export?cursor=${encodeURIComponent(cursor)}`, headers: bearer });
    t.match([refused.statusCode, refused.body], [400, /cursor/], cursor);
  }
  t.equal((await app.inject({ url: '/api/export' })).statusCode, 401);
});

t.test('a HEAD reads nothing of the account', async (t) => {
  const { lists } = context;
  const { ofAccount } = lists;
  let reads = 0;
  lists.ofAccount = (...read) => {
    reads += 1;
    return ofAccount(...read);
  };
  t.teardown(() => Object.assign(lists, { ofAccount }));
  const origin = await listen(app);
  const ask = (method: 'GET' | 'HEAD') => fetch(`${origin}/api/export`, { method, headers: bearer });
  const head = await ask('HEAD');
  t.match([head.status, head.headers.get('content-type')], [200, 'application/jsonl']);
  t.equal(head.headers.get('content-length'), null, 'as of a GET');
  await (await ask('GET')).text();
  const ofGet = reads;
  t.ok(ofGet >= 8, `${ofGet} reads`);
  await (await ask('GET')).text();
  t.equal(reads, 2 * ofGet, 'those of the GETs alone');
});

t.test('a caller who leaves while its slot is taken gives it back', async (t) => {
  const asked = Promise.withResolvers<void>();
  const slot = Promise.withResolvers<() => void>();
  let returned = 0;
  const take = () => {
    asked.resolve();
    return slot.promise;
  };
  const { app, keyWith } = await build(t, {}, { streamSlots: { take } });
  const { bearer } = await keyWith(0);
  const arrived = once(app.server, 'request');
  const caller = new AbortController();
  const answer = fetch(`${await listen(app)}/api/export`, { headers: bearer, signal: caller.signal });
  const [[, response]] = await Promise.all([arrived, asked.promise]);
  const closed = once(response, 'close');
  caller.abort();
  await Promise.all([t.rejects(answer), closed]);
  slot.resolve(() => {
    returned += 1;
  });
  await eventually('the slot is given back', () => returned > 0, 2_000);
});
