import { holdOf, newPollId, newResultId, OPERATOR_ENTRY } from '@eloquentpoll/polls';
import {
  acceptPoll,
  balanceOf,
  FREE_POOL,
  findPollByResult,
  findResult,
  insertWebhookEndpoint,
} from '@eloquentpoll/storage';
import t from 'tap';
import { newApiKey } from '../../src/accounts/keys/api-key.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const Q = 'Which of these is the best?';
const { app, context, keyWith, sessionFor } = await build(t);
const { bearer, accountId } = await keyWith(10);
await standInWorker(t, context);

const post = (url: string, payload: unknown, headers: object = {}) =>
  app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
const quick = (payload: unknown, headers?: object) => post('/api/quick-poll', payload, headers);
const usage = async (id: string) => (await balanceOf(context.storage, id))?.usageU ?? 0n;

t.test(
  '[§4.1-quick-200, §4.1-quick-question, §4.1-quick-options, §4.1-rule-cost-basis, §5-rule-quick-poll] a paid quick poll',
  async (t) => {
    const before = await usage(accountId);
    const answer = await quick({ question: Q, options: ['A', 'B', 'C'] }, bearer);
    t.equal(answer.statusCode, 200);
    const cost = Number((await usage(accountId)) - before) / 1_000_000;
    // [§2.15-quick-question, §2.15-quick-options, §2.15-quick-answer, §2.15-quick-reasoning, §2.15-quick-cost]
    t.ok(cost > 0);
    const { poll_id, result_url, page_url, panel, ...rest } = answer.json();
    t.match(panel, { heard: 9, missing: { length: 0 } });
    t.same(rest, {
      question: Q,
      options: ['A', 'B', 'C'],
      answer: 'A',
      reasoning: '100% confidence after 9 variants',
      cost,
      status: 'success',
    });
    t.same(
      [result_url, page_url],
      [`https://polls.example/api/results/${poll_id}`, `https://polls.example/result/${poll_id}`],
    );
    for (const [theme, seats] of [
      ['fast', 5],
      ['strong', 7],
      ['search', 9],
      ['broad', 9],
    ] as const)
      t.match((await quick({ poll: `${Q} [A, B]`, theme }, bearer)).json(), {
        answer: 'A',
        reasoning: `100% confidence after ${seats} variants`,
      });
  },
);

t.test(
  '[§4.1-quick-free-200, §4.1-quick-free-cost-0, §4.1-quick-free-theme-free, §1-way-quick-free] anybody may ask for free',
  async (t) => {
    for (const body of [
      { question: Q, options: ['A', 'B'] },
      // [§4.1-quick-free-shorthand]
      { q: Q, o: ['A', 'B'] },
      { poll: `${Q} [A, B]` },
      { q: Q, o: ['A', 'B'], theme: 'free' },
      { q: Q, o: ['A', 'B'], theme: 'free_search' },
    ]) {
      const answer = await quick(body);
      t.equal(answer.statusCode, 200);
      const { poll_id, result_url, page_url, panel, ...rest } = answer.json();
      t.match(panel, { asked: 5, heard: 5, missing: { length: 0 } });
      // [§2.15-quick-theme, §2.15-quick-free-poll-id, §2.15-quick-free-result-url]
      const reasoning = '100% confidence after 5 variants';
      const status = 'success';
      t.same(rest, { question: Q, options: ['A', 'B'], answer: 'A', reasoning, cost: 0, theme: 'free', status });
      // [§4.1-quick-free-result]
      t.match(poll_id, /^EP-/);
      t.equal(result_url, `https://polls.example/api/results/${poll_id}`);
      t.equal(page_url, `https://polls.example/result/${poll_id}`);
      t.equal((await app.inject({ url: new URL(page_url).pathname })).statusCode, 200);
      const stored = await app.inject({ url: new URL(result_url).pathname });
      t.match([stored.statusCode, stored.json().winning_option], [200, 'A']);
      // [§4.1-rule-no-credentials]
      const poll = await findPollByResult(context.storage, poll_id);
      t.equal(poll?.accountId, null);
      t.match(poll?.spec, { panel_name: 'theme' in body ? body.theme : 'free', min_votes: 1 });
      for (const { model_id } of poll!.spec.seats) t.ok(context.panels.model(model_id)?.openWeight, model_id);
    }
    t.equal(await usage(FREE_POOL), 5n * 500n, 'the operator paid');
  },
);

t.test('a caller with a key may run a free poll, and pays nothing', async (t) => {
  const poor = await keyWith(0);
  const endpoint = { id: `we_${'f'.repeat(32)}`, url: 'https://hook.example.com/', description: '', secret: 'sealed' };
  await insertWebhookEndpoint(context.storage, poor.accountId, { ...endpoint, eventTypes: ['poll.completed'] });
  const answer = await quick({ q: Q, o: ['A', 'B'], theme: 'free' }, poor.bearer);
  t.match([answer.statusCode, answer.json()], [200, { cost: 0, theme: 'free', answer: 'A' }]);
  const result = await findResult(context.storage, answer.json().poll_id);
  t.equal(result?.accountId, poor.accountId, 'it is a poll of theirs');
  t.equal(await usage(poor.accountId), 0n);
  const history = await app.inject({ url: '/api/results', headers: await sessionFor(poor.accountId) });
  t.match(history.json(), [{ resultId: answer.json().poll_id, totalCostUsd: /^0(\.0+)?$/ }]);
  const events = await context.storage.call(
    "select data ->> 'cost_usd' as cost from webhook_events where account_id = $1",
    [poor.accountId],
  );
  t.same(events, [{ cost: '0' }], 'nor does the event of its end say what it cost the operator');
});

t.test(
  'an operator asks the poll of an account again: its stream and its result say that it cost nothing',
  async (t) => {
    const { accountId: owner, bearer: headers } = await keyWith(0);
    const { spec } = (await findPollByResult(
      context.storage,
      (await quick({ q: Q, o: ['A', 'B'] }, bearer)).json().poll_id,
    ))!;
    const poll = { id: newPollId(), resultId: newResultId(), accountId: owner, spec, deadlineMs: 60_000 };
    await acceptPoll(context.storage, {
      poll: { ...poll, entryPoint: OPERATOR_ENTRY },
      holdU: holdOf(spec),
      free: { dailyCapU: 10_000_000n },
    });
    await context.bus.enqueuePoll(poll.id, { round: 0, lane: 'standard' });
    const events = await app.inject({
      method: 'POST',
      url: '/api/poll/stream',
      headers: { ...headers, 'last-event-id': `${poll.id}:` },
    });
    t.match(events.body, /event: complete/);
    t.notMatch(events.body, /"(estimated_cost|total_estimated_cost)":0\.\d/);
    const result = await app.inject({ url: `/api/polls/${poll.id}/result`, headers });
    t.match(result.json(), { costs: { total_estimated_cost: 0 }, votes: [{ estimated_cost: 0 }] });
    const listed = await app.inject({ url: '/api/polls', headers });
    t.match(listed.json().polls, [{ session_id: poll.id, cost_usd: 0 }]);
  },
);

t.test('[§4.1-rule-question-only] a question is enough', async (t) => {
  const free = await quick({ question: 'Should we use Postgres or Redis?' });
  t.match(free.json(), { options: ['Postgres', 'Redis'], options_source: 'server', answer: 'Postgres' });
  const paid = await quick({ question: 'Is this question enough?', theme: 'strong' }, bearer);
  t.match(paid.json(), { options: ['Yes', 'No'], options_source: 'server' });
  t.notOk('options_source' in (await quick({ q: Q, o: ['A', 'B'] })).json());
});

t.test('[§5-rule-quick-poll, §A6-bad-bearer-401] a bad key is 401, never a free poll', async (t) => {
  const before = await usage(FREE_POOL);
  for (const token of [newApiKey(), 'nonsense', '']) {
    for (const [url, body] of [
      ['/api/quick-poll', { q: Q, o: ['A', 'B'] }],
      ['/api/quick-poll', { q: Q, theme: 'free' }],
      ['/api/poll', { q: Q, o: ['A', 'B'] }],
    ] as const) {
      const answer = await post(url, body, { authorization: `Bearer ${token}` });
      t.match([answer.statusCode, answer.json().code], [401, 'invalid_api_key']);
    }
  }
  t.equal(await usage(FREE_POOL), before);
});

t.test('[§4.1-quick-402, §7-402-balance] a paid one needs money, and leaves nothing without it', async (t) => {
  const poor = await keyWith(0);
  const before = await stored(context);
  const answer = await quick({ q: Q, o: ['A', 'B'] }, poor.bearer);
  t.match([answer.statusCode, answer.json().code], [402, 'insufficient_balance']);
  t.same(await stored(context), before);
});

t.test(
  '[§4.1-quick-400, §4.1-quick-free-400, §7-400-validation] a bad one is refused and stores nothing',
  async (t) => {
    const before = await stored(context);
    for (const [body, code, headers] of [
      [{}, 'validation_error'],
      ['', 'validation_error'],
      ['{', 'malformed_json'],
      ['[]', 'validation_error'],
      [{ q: Q, o: ['A'] }, 'validation_error'],
      [{ q: Q, o: [...'abcdef'] }, 'validation_error'],
      [{ q: Q, o: ['A', 'x'.repeat(51)] }, 'validation_error'],
      [{ q: 'x'.repeat(1001) }, 'validation_error'],
      [{ q: Q, theme: 'broad' }, 'validation_error'],
      [{ q: Q, q2: '\u0000' }, 'validation_error'],
      [{ q: Q, o: ['A', 'B\uD800'] }, 'validation_error'],
      [{ q: Q, theme: 'nonsense' }, 'validation_error', bearer],
      [{ q: Q, dry_run: true }, 'validation_error', bearer],
      [{ q: Q, o: [...'abcdefghijk'] }, 'validation_error', bearer],
      [{ q: Q, max_cost_usd: 0 }, 'validation_error', bearer],
      [{ q: Q, max_cost_usd: 26 }, 'validation_error', bearer],
      [{ q: Q, confidence_threshold: '0.9' }, 'validation_error', bearer],
      [{ q: Q, preset: 'free' }, 'invalid_preset', bearer],
    ] as const) {
      const answer = await quick(body, headers);
      t.match([answer.statusCode, answer.json().code], [400, code], JSON.stringify(body).slice(0, 60));
    }
    t.same(await stored(context), before);
  },
);

t.test(
  '[§4.1-rule-poll-free, §A6-poll-no-credentials-shorthand] POST /api/poll without credentials and in short is free',
  async (t) => {
    for (const body of [
      { q: Q, o: ['A', 'B'] },
      { poll: `${Q} [A, B]` },
      { question: Q, options: ['A', 'B'], theme: 'free' },
      { question: 'Is this question enough?' },
      { prompt: 'Is this question enough?' },
    ]) {
      const answer = await post('/api/poll', body);
      t.match([answer.statusCode, answer.json()], [200, { cost: 0, theme: 'free', result_url: /^https:/ }]);
    }
    t.equal((await post('/api/poll', { q: Q, theme: 'strong' })).statusCode, 400, 'and never instead of a paid one');
  },
);

t.test(
  '[§4.1-poll-401, §A6-poll-no-credentials-full, §7-problem-recovery] in full it is 401 that names the free way',
  async (t) => {
    const machine = { 'x-machine-client': 'true' };
    for (const body of [
      { question: Q, options: ['A', 'B'] },
      { prompt: Q, options: ['A', 'B'], preset: 'fast' },
      { options: ['A', 'B'] },
      { question: 'Is this question enough?', options: ['A', 'B'], dry_run: true },
      { question: 5, options: ['A'] },
      {},
      [],
      null,
    ]) {
      const answer = await post('/api/poll', body, machine);
      t.match([answer.statusCode, answer.json().code], [401, 'authentication_required'], JSON.stringify(body));
      const recovery = answer.json().recovery;
      t.match(recovery[0], { action: 'use_free_poll', method: 'POST', url: 'https://polls.example/api/quick-poll' });
      t.match(answer.json().error, /POST \/api\/quick-poll/);
      t.ok(answer.headers['www-authenticate']);
    }
  },
);

t.test(
  '[§A6-poll-credentials-shorthand, §4.1-rule-poll-shorthand, §4.1-rule-poll-profile] with credentials every form runs',
  async (t) => {
    for (const [body, result] of [
      [
        { q: Q, o: ['A', 'B'] },
        { preset: 'broad', options: ['A', 'B'] },
      ],
      [
        { poll: `${Q} [A, B]`, theme: 'fast' },
        { preset: 'fast', options: ['A', 'B'] },
      ],
      [{ question: 'Is this question enough?' }, { preset: 'broad', options: ['Yes', 'No'] }],
      [
        { question: Q, options: ['A', 'B'], profile: 'quick' },
        { preset: 'fast', confidence_threshold: 0.8, max_cost_usd: 0.25 },
      ],
      [
        { question: Q, options: ['A', 'B'], profile: 'conservative', preset: 'broad', max_cost_usd: 3 },
        { preset: 'broad', confidence_threshold: 0.99, max_cost_usd: 3 },
      ],
      [
        { q: Q, o: ['A', 'B'], profile: 'quick', confidence_threshold: 1 },
        { preset: 'fast', confidence_threshold: 1 },
      ],
      [
        { q: Q, o: ['A', 'B'], theme: 'free' },
        { theme: 'free', cost: 0 },
      ],
    ] as const) {
      const answer = await post('/api/poll', body, bearer);
      t.match([answer.statusCode, answer.json()], [200, result], JSON.stringify(body));
    }
    const wrong = await post('/api/poll', { question: Q, options: ['A', 'B'], profile: 'nonsense' }, bearer);
    t.match([wrong.statusCode, wrong.json().code], [400, 'validation_error']);
  },
);

t.test('[§4.1-rule-poll-dry-run] dry_run runs nothing, in every form', async (t) => {
  const before = await balanceOf(context.storage, accountId);
  const good = { dry_run: true, valid: true, errors: [], estimates: { total_models: 9 } };
  t.match((await post('/api/poll', { question: Q, options: ['A', 'B'], dry_run: true }, bearer)).json(), good);
  t.match((await post('/api/poll', { poll: `${Q} [A, B]`, dry_run: true }, bearer)).json(), good);
  const free = await post('/api/poll', { q: Q, theme: 'free', dry_run: true }, bearer);
  t.match(free.json(), { valid: true, estimates: { total_models: 5, balance_sufficient: true } });
  const wrong = await post('/api/poll', { poll: `${Q} [A,]`, dry_run: true }, bearer);
  t.match(wrong.json(), { dry_run: true, valid: false, errors: [/an option is empty/], estimates: {} });
  t.match(await balanceOf(context.storage, accountId), before);
  t.equal((await post('/api/poll', { question: Q, options: ['A', 'B'], dry_run: false }, bearer)).json().outcome, 'A');
});

t.test(
  '[§4.1-poll-cookie, §A6-bearer-over-cookie] a login is enough, and a bearer decides where both are',
  async (t) => {
    const session = await sessionFor(accountId);
    const poor = await keyWith(0);
    const body = { question: Q, options: ['A', 'B'] };
    t.equal((await post('/api/poll', body, session)).statusCode, 200);
    t.equal((await post('/api/poll', body, { ...session, ...poor.bearer })).statusCode, 402);
    const elsewhere = await post('/api/poll', body, { ...session, origin: 'https://elsewhere.example' });
    t.match([elsewhere.statusCode, elsewhere.json().code], [403, 'forbidden_origin']);
  },
);

t.test(
  'where no model of the panel searches the web a poll that is to search is refused, and nothing is charged',
  async (t) => {
    const offline = await build(t);
    for (const model of offline.context.panels.models()) model.search = null;
    const { bearer, accountId } = await offline.keyWith(10);
    const ask = (theme: string, headers = {}) =>
      offline.app.inject({
        method: 'POST',
        url: '/api/quick-poll',
        headers,
        payload: { question: Q, options: ['A', 'B'], theme },
      });
    for (const answer of [await ask('search', bearer), await ask('free_search')]) {
      t.equal(answer.statusCode, 503);
      t.match(answer.json(), { code: 'not_configured', error: /No model of this panel searches the web here/ });
    }
    t.match(await balanceOf(offline.context.storage, accountId), { postedU: 10_000_000n, heldU: 0n, usageU: 0n });
  },
);
