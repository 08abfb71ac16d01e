import { isResultId, newResultId } from '@eloquentpoll/polls';
import { closeAccount, emptyClosedAccounts, findResult, StorageUnavailable } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import type { Context } from '../../src/context.ts';
import { build, type Gateway } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const QUESTION = 'Which of these is the best choice?';
const { app, context, keyWith, sessionFor } = await build(t);
// One vote for the second option, one model without a vote, the rest for the first option.
await standInWorker(t, context, { opinion: (seat) => (seat === 1 ? null : seat === 0 ? 1 : 0) });

async function poll(bearer: { authorization: string }, more: object = {}) {
  const payload = { question: QUESTION, options: ['A', 'B'], ...more };
  const answer = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
  if (answer.statusCode !== 200) throw new Error(answer.body);
  return answer;
}

t.test(
  '[§4.2-result-200, §1-result-public, §1-result-no-cost, §2.4-no-cost, §A6-public-votes-no-cost] anyone with the id reads the result, and nothing about money',
  async (t) => {
    const { bearer, accountId, key } = await keyWith(1);
    const response = (await poll(bearer)).json();
    const answer = await app.inject({ url: `/api/results/${response.poll_id}` });
    t.equal(answer.statusCode, 200);
    const body = answer.json();

    // [§2.4-poll-id, §2.4-status, §2.4-question, §2.4-options, §2.4-poll-type, §2.4-winning-option, §2.4-is-tie]
    // [§2.4-confidence-threshold, §2.4-max-cost-usd, §2.4-early-terminated, §2.4-termination-reason]
    // [§2.4-models-skipped, §2.4-tally, §2.4-timing, §A6-additive-confidence, §A6-additive-preset]
    // [§A6-additive-simulated, §1-result-stored]
    const { costs, votes, outcome, ...same } = response;
    t.ok(costs && outcome);
    t.match(body, same);
    // [§2.4-votes]
    t.same(
      body.votes,
      votes.map(({ estimated_cost, ...vote }: { estimated_cost: number }) => vote),
    );
    // [§2.4-models-requested, §2.4-models-succeeded, §2.4-models-failed, §2.4-created-at]
    t.match(body, { models_requested: 9, models_succeeded: 8, models_failed: 1 });
    t.ok(Math.abs(Date.parse(body.created_at) - Date.now()) < 60_000);

    const names = namesIn(body).filter((name) => name !== 'max_cost_usd');
    t.same(
      names.filter((name) => /cost|usd|user|key|account|owner|bill/i.test(name)),
      [],
    );
    for (const secret of [accountId, key, 'ps_', 'estimated']) t.notOk(answer.body.includes(secret), secret);
  },
);

/** Names of members at any depth; options are text and not names of ours. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => (name === 'tally' ? [name] : [name, ...namesIn(member)]));
}

t.test('a result may be cached, read by any page, and is hidden from search engines', async (t) => {
  const { bearer } = await keyWith(1);
  const url = `/api/results/${(await poll(bearer)).json().poll_id}`;
  const { headers, body } = await app.inject({ url, headers: { origin: 'https://elsewhere.example' } });
  t.match(headers, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'public, no-cache',
    'x-robots-tag': 'noindex',
    'access-control-allow-origin': '*',
    etag: /^"[\w-]{22}"$/,
  });
  t.notOk(headers['access-control-allow-credentials'] ?? headers['set-cookie']);

  const tag = String(headers.etag);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await app.inject({ url, headers: { 'if-none-match': known } });
    t.match([again.statusCode, again.body, again.headers.etag], [304, '', tag], known);
    t.equal(again.headers['cache-control'], headers['cache-control']);
    t.equal(again.headers['x-robots-tag'], 'noindex');
  }
  for (const other of ['"other"', tag.replaceAll('"', ''), '']) {
    const again = await app.inject({ url, headers: { 'if-none-match': other } });
    t.match([again.statusCode, again.body], [200, body], other);
  }
  const head = await app.inject({ method: 'HEAD', url });
  t.match([head.statusCode, head.body, head.headers.etag], [200, '', tag]);
});

const NEVER_IDS = [
  'EP-2026-11-20-0123456789abcdeu',
  'EP-2026-11-20-0123456789ABCDEF',
  'EP-2026-11-20-0123456789abcde',
  'EP-2026-11-20-0123456789abcdefg',
  'EP-2026-1-20-0123456789abcdef',
  'ps_0123456789abcdefghjkmnpq',
  "EP-2026-11-20-' or 1=1 --aaaaa",
  'EP-2026-11-20-%25%25%25%25%25%25%25%25%25%25%25%25%25%25%25%25',
  '%F0%9F%98%80',
  'undefined',
  '-1',
];

t.test('[§4.2-result-404, §7-404-not-found, §4.2-mermaid-404] ids that open nothing are all alike', async (t) => {
  for (const id of [newResultId(), ...NEVER_IDS]) {
    for (const [path, code] of [
      ['results', 'result_not_found'],
      ['graph/mermaid', 'poll_not_found'],
    ]) {
      const answer = await app.inject({ url: `/api/${path}/${encodeURI(id)}` });
      t.match([answer.statusCode, answer.json().code], [404, code], `${path} ${id}`);
      t.equal(answer.headers['cache-control'], 'no-store');
      t.notOk(answer.headers.etag);
    }
  }
  t.equal((await app.inject({ url: '/api/results/%00' })).statusCode, 400);
  t.equal((await app.inject({ url: `/api/results/${'x'.repeat(500)}` })).statusCode, 414);
});

t.test('what cannot be an id is not looked for', async (t) => {
  const { app } = await build(t, {}, { storage: unreachable(() => new Error('asked')) });
  for (const id of NEVER_IDS) t.equal((await app.inject({ url: `/api/results/${encodeURI(id)}` })).statusCode, 404, id);
  t.equal((await app.inject({ url: `/api/results/${newResultId()}` })).statusCode, 500, 'an id is');
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !isResultId(text)));
  // [§A6-result-id-secret]
  const drawn = new Set(Array.from({ length: 10_000 }, () => newResultId().slice(-16)));
  t.equal(drawn.size, 10_000);
  t.equal(new Set([...drawn].join('')).size, 32, 'every character of the alphabet is in use');
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(1e13) }), (day) =>
      isResultId(newResultId('0', day)),
    ),
  );
});

t.test('a poll that still runs has no result, and its id cannot be guessed', async (t) => {
  const slow = await build(t);
  const gate = Promise.withResolvers<void>();
  await standInWorker(t, slow.context, { holdUntil: gate.promise });
  const { bearer } = await slow.keyWith(1);
  const asking = slow.app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options: ['A', 'B'] },
  });
  await eventually('the result is stored', async () => (await resultIds(slow)).length === 1);
  const [id] = await resultIds(slow);
  const url = `/api/results/${id}`;
  t.equal((await slow.app.inject({ url })).statusCode, 404);
  gate.resolve();
  t.equal((await asking).json().poll_id, id);
  t.equal((await slow.app.inject({ url })).statusCode, 200);
});

const resultIds = async ({ context }: Gateway) =>
  (await context.storage.db.selectFrom('polls').select('result_id').execute()).map((row) => row.result_id);

t.test('results of an account that was closed are gone, before and after they are emptied', async (t) => {
  const { bearer, accountId } = await keyWith(1);
  const { poll_id } = (await poll(bearer)).json();
  const headers = await sessionFor(accountId);
  const gone = async () => {
    for (const [url, code] of [
      [`/api/results/${poll_id}`, 'result_not_found'],
      [`/api/graph/mermaid/${poll_id}`, 'poll_not_found'],
    ] as const)
      t.match([(await app.inject({ url })).statusCode, (await app.inject({ url })).json()], [404, { code }]);
    t.equal((await app.inject({ url: `/result/${poll_id}` })).statusCode, 404);
  };
  t.equal((await app.inject({ url: `/api/results/${poll_id}` })).statusCode, 200);
  t.ok(await closeAccount(context.storage, accountId));
  await gone();
  t.equal((await emptyClosedAccounts(context.storage)).length, 1);
  await gone();
  t.equal((await app.inject({ url: '/api/results', headers })).statusCode, 401, 'the account is gone');
});

t.test('[§2.2-tally] an answer is the same byte for byte at every read', async (t) => {
  const { bearer } = await keyWith(5);
  for (const options of [
    ['zebra', 'apple', 'mango'],
    ['10', '9', 'b', '1'],
    ['__proto__', 'constructor', 'a'],
    ['bb', 'a', 'ccc'],
  ]) {
    const first = await poll(bearer, { options });
    const stored = await findResult(context.storage, first.json().poll_id);
    t.equal(JSON.stringify(stored!.detail), first.body, options.join());
  }
});

t.test('[§7-429] and a store that is away: each operation says when to come back', async (t) => {
  let away = false;
  const broken = await build(t, { rateLimits: readPolicies('read=2/60,account=4/60') });
  const { accountId } = await broken.keyWith(0);
  const headers = await broken.sessionFor(accountId);
  const { storage } = broken.context;
  const shaky = unreachable(
    () => new StorageUnavailable('08006'),
    storage,
    () => away,
  );
  const second = await build(t, { rateLimits: readPolicies('read=1000/60,account=1000/60') }, { storage: shaky });
  const id = newResultId();
  away = true;
  for (const url of [`/api/results/${id}`, `/api/graph/mermaid/${id}`, '/api/results', '/api/results/recent']) {
    const answer = await second.app.inject({ url, headers });
    t.match([answer.statusCode, answer.json().code], [503, 'service_unavailable'], url);
    t.ok(Number(answer.headers['retry-after']) > 0);
  }
  const answers = [];
  for (const url of [
    ...['/api/graph/node-spec', '/api/profiles', `/api/results/${id}`, `/api/graph/mermaid/${id}`],
    ...['/api/results', '/api/results/recent', '/api/results', '/api/results/recent'],
    ...['/api/results', '/api/results/recent'],
  ])
    answers.push((await broken.app.inject({ url, headers })).statusCode);
  t.same(answers, [200, 200, 429, 429, 200, 200, 200, 200, 429, 429]);
});

/** A store that throws while it is away. */
function unreachable(error: () => Error, storage?: Context['storage'], away = () => true): Context['storage'] {
  return new Proxy(storage ?? ({} as Context['storage']), {
    get(target, name) {
      if (away()) throw error();
      return Reflect.get(target, name);
    },
  });
}
