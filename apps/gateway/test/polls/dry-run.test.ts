import { balanceOf } from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app, context, keyWith } = await build(t);
const { bearer, accountId } = await keyWith(10);
const good = { question: 'Which of these is best?', options: ['A', 'B', 'C'] };

const post = (url: string, payload: unknown, headers: object = bearer) =>
  app.inject({
    method: 'POST',
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
const dryRun = async (payload: unknown, headers?: object) => {
  const answer = await post('/api/poll/dry-run', payload, headers);
  t.equal(answer.statusCode, 200, JSON.stringify(payload).slice(0, 80));
  return answer.json();
};

t.test(
  '[§4.1-dry-run-200, §1-support-dry-run, §2.15-dry-run-flag, §2.15-dry-run-valid, §2.15-dry-run-errors, §2.15-dry-run-estimates] a good poll',
  async (t) => {
    const body = await dryRun({
      ...good,
      preset: 'strong',
      max_cost_usd: 2,
      confidence_threshold: 0.9,
      surface: 'cli',
    });
    t.match(body, { dry_run: true, valid: true, errors: { length: 0 } });
    const { estimates } = body;
    t.match(estimates, {
      preset: 'strong',
      options: 3,
      confidence_threshold: 0.9,
      max_cost_usd: 2,
      within_budget: true,
      balance_sufficient: true,
      total_models: 7,
      basis: 'catalog_prices',
    });
    t.equal(estimates.estimated_cost_usd, estimates.cost_usd.expected);
    t.equal(estimates.estimated_latency_ms, estimates.latency_ms.p50);
    t.ok(Number.isInteger(estimates.estimated_models_invoked));
    t.ok(Math.abs(estimates.estimated_models_invoked - estimates.models.expected_calls) <= 0.5);
  },
);

t.test('a poll costs what its texts are long', async (t) => {
  const cost = async (more: object) => (await dryRun({ ...good, ...more })).estimates.cost_usd;
  const [short, long] = [await cost({}), await cost({ question: 'x'.repeat(20_000) })];
  t.ok(long.expected > short.expected * 3 && long.max > short.max);
  const tight = (await dryRun({ ...good, max_cost_usd: 0.01, confidence_threshold: 1 })).estimates;
  t.match(tight, { within_budget: false, max_cost_usd: 0.01 });
  t.ok(tight.models.max_calls < tight.total_models && tight.cost_usd.max <= 0.01, 'the budget ends it');
  t.match((await dryRun({ ...good, max_cost_usd: 1e-9 })).estimates, { within_budget: false, max_cost_usd: 1e-9 });
});

t.test('[§4.1-dry-run-optional-fields] fields that are absent or wrong count as absent', async (t) => {
  const none = await dryRun({});
  t.match(none, { dry_run: true, valid: false, estimates: { preset: 'broad', options: 2, max_cost_usd: 1 } });
  t.same(none.errors, ['options is required', 'question is required']);
  const asked = await dryRun({ question: 'Is the sky blue today?' });
  t.match(asked, { dry_run: true, valid: true, errors: { length: 0 } }, 'POST /api/poll runs it');
  t.match((await dryRun({ ...good, options: ['A'], preset: 'fast' })).estimates, { preset: 'fast', options: 2 });
  t.match((await dryRun({ ...good, confidence_threshold: 2 })).estimates, { confidence_threshold: 0.95, options: 3 });
  t.match((await dryRun({ ...good, max_cost_usd: -1 })).estimates, { max_cost_usd: 1 });
  t.match((await dryRun({ ...good, options: ['A'], profile: 'nope' })).estimates, { preset: 'broad', max_cost_usd: 1 });
  t.match((await dryRun({ ...good, options: ['A'], profile: 'quick' })).estimates, { preset: 'fast' });
});

t.test('[§7-400-preset] without a preset there is nothing to estimate', async (t) => {
  for (const preset of ['nope', '', 'free', 7, null]) {
    const body = await dryRun({ ...good, preset });
    t.match(body, { valid: false, errors: [/^preset must be/] });
    t.same(body.estimates, {});
  }
});

const WRONG: unknown[] = [
  { ...good, question: 'short' },
  { ...good, question: undefined },
  { ...good, prompt: 'Another question altogether' },
  { ...good, question: ' '.repeat(12) },
  { ...good, question: 12345678901 },
  { ...good, options: undefined, question: undefined },
  { ...good, options: [] },
  { ...good, options: ['A'] },
  { ...good, options: 'A, B' },
  { ...good, options: ['A', 7] },
  { ...good, options: ['A', ''] },
  { ...good, options: ['A', 'A'] },
  { ...good, options: ['é', 'e\u0301'] },
  { ...good, webhook_url: 'https://caller.example/hook' },
  { ...good, metadata: [] },
  { ...good, metadata: { customer: 7 } },
  { ...good, options: ['A'], metadata: { '': 'x' } },
  { ...good, options: ['A', 'x'.repeat(201)] },
  { ...good, options: ['A', '\u202E'] },
  { ...good, options: Array.from({ length: 11 }, (_, i) => `${i}`) },
  { ...good, preset: 'nope' },
  { ...good, preset: 'nope', options: ['A'] },
  { ...good, confidence_threshold: '0.9' },
  { ...good, confidence_threshold: 1.5 },
  { ...good, max_cost_usd: 0 },
  { ...good, max_cost_usd: 26 },
  { ...good, poll_type: 'borda' },
  { ...good, profile: 'nope' },
  { ...good, profile: 7 },
  { ...good, options: ['A', 'B\0'] },
  '{"question":"Which of these is best?","options":["A","\\ud800"]}',
  '{"question":"Which of these is best?","options":["A","B"],"__proto__":{"a":1}}',
  `{"options":${'['.repeat(30)}${']'.repeat(30)}}`,
];

t.test('[§4.1-dry-run-invalid] errors are the words of the 400 that the poll would get', async (t) => {
  for (const payload of WRONG) {
    const label = (typeof payload === 'string' ? payload : JSON.stringify(payload)).slice(0, 80);
    const refused = await post('/api/poll', payload);
    const { valid, errors } = await dryRun(payload);
    t.equal(refused.statusCode, 400, label);
    t.equal(valid, false, label);
    t.equal(errors.join('; '), refused.json().error, label);
  }
});

t.test('any JSON is answered', async (t) => {
  for (const payload of ['null', 'true', '5', '"text"', '[]', '[{}]']) {
    const body = await dryRun(payload);
    t.match(body, { valid: false, errors: [/^the request must be an object/] });
    t.same(body.estimates, {});
  }
  const bodiless = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer });
  t.match([bodiless.statusCode, bodiless.json()], [200, { valid: false }]);
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.record(
          {
            question: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
            options: fc.oneof(fc.array(fc.string({ unit: 'binary' })), fc.jsonValue()),
            preset: fc.oneof(fc.constantFrom('broad', 'fast'), fc.jsonValue()),
            profile: fc.oneof(fc.constantFrom('quick', 'nope'), fc.jsonValue()),
            confidence_threshold: fc.oneof(fc.double(), fc.jsonValue()),
            max_cost_usd: fc.oneof(fc.double(), fc.jsonValue()),
          },
          { requiredKeys: [] },
        ),
      ),
      async (payload) => {
        const { valid, errors } = await dryRun(payload);
        return valid === (errors.length === 0);
      },
    ),
    { numRuns: 200 },
  );
});

t.test('[§4.1-dry-run-no-model-call] a caller who cannot pay learns so, and nothing moves', async (t) => {
  const poor = await keyWith(0);
  t.match(await dryRun(good, poor.bearer), { valid: true, estimates: { balance_sufficient: false } });
  const { estimates } = await dryRun(good);
  // To the micro-dollar the same question as the one that a poll asks.
  const hold = Math.round(estimates.cost_usd.max * 1_000_000);
  const [exactly, less] = [await keyWith(hold / 1_000_000), await keyWith((hold - 1) / 1_000_000)];
  t.equal((await dryRun(good, exactly.bearer)).estimates.balance_sufficient, true);
  t.equal((await dryRun(good, less.bearer)).estimates.balance_sufficient, false);
  t.equal((await post('/api/poll', good, less.bearer)).statusCode, 402);
  t.match(await balanceOf(context.storage, accountId), { heldU: 0n, usageU: 0n, availableU: 10_000_000n });
});

t.test('[§4.1-dry-run-401] it needs a key, and JSON', async (t) => {
  t.equal((await post('/api/poll/dry-run', good, {})).json().code, 'authentication_required');
  const wrong = { authorization: 'Bearer ep_k_wrong' };
  t.equal((await post('/api/poll/dry-run', good, wrong)).json().code, 'invalid_api_key');
  t.equal((await post('/api/poll/dry-run', '{"question":')).json().code, 'malformed_json');
  t.equal((await post('/api/poll/dry-run', { ...good, more: 'x'.repeat(70_000) })).json().code, 'payload_too_large');
  const form = { ...bearer, 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: form, payload: 'a=b' });
  t.match(answer.json(), { code: 'unsupported_media_type', error: /Content-Type application\/json/ });
});
