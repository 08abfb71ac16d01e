import { TERMINATION_REASONS } from '@eloquentpoll/contracts';
import { findPoll } from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import type { Context } from '../../src/context.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const { app, context } = await build(t);

const estimate = async (query: Record<string, unknown> = {}) => {
  const text = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return app.inject({ url: `/api/poll/estimate?${text.join('&')}` });
};

t.test(
  '[§4.1-estimate-200, §4.1-estimate-options-default, §1-support-estimate, §5-rule-none] the defaults of a poll',
  async (t) => {
    const answer = await estimate();
    t.equal(answer.statusCode, 200);
    const body = answer.json();
    t.match(body, {
      preset: 'broad',
      options: 2,
      poll_type: 'fptp',
      confidence_threshold: 0.95,
      currency: 'USD',
      models: { roster_size: 9, min_calls: 3, max_calls: 9 },
      basis: 'catalog_prices',
      sample_size: 0,
    });
    t.ok(Math.abs(Date.parse(body.generated_at) - Date.now()) < 60_000);
    t.match(String(answer.headers['cache-control']), /^public, max-age=\d+$/);
    t.same((await estimate({ surface: 'mcp', api_key: 1 })).json().cost_usd, body.cost_usd, 'unknown fields count not');
  },
);

t.test(
  '[§4.1-estimate-confidence-threshold] figures are ordered, and a higher threshold never asks fewer',
  async (t) => {
    for (const preset of ['broad', 'fast', 'strong']) {
      for (const options of [2, 3, 10]) {
        let before = 0;
        for (const confidence_threshold of [0, 0.5, 0.8, 0.95, 0.999, 1]) {
          const answer = await estimate({ preset, options, confidence_threshold });
          t.equal(answer.statusCode, 200);
          const { models, cost_usd, latency_ms, early_termination } = answer.json();
          const label = `${preset} ${options} ${confidence_threshold}`;
          t.ok(models.min_calls <= models.expected_calls && models.expected_calls <= models.max_calls, label);
          t.ok(models.max_calls <= models.roster_size, label);
          t.ok(0 < cost_usd.min && cost_usd.min <= cost_usd.expected && cost_usd.expected <= cost_usd.max, label);
          t.ok(cost_usd.max <= 1, 'the default maximum cost');
          t.ok(0 < latency_ms.p50 && latency_ms.p50 <= latency_ms.p95, label);
          t.ok(models.expected_calls >= before, label);
          t.ok(TERMINATION_REASONS.includes(early_termination.likely_reason), label);
          before = models.expected_calls;
        }
        const lock = (await estimate({ preset, options, confidence_threshold: 1 })).json();
        t.equal(
          lock.models.min_calls,
          Math.floor(lock.models.roster_size / 2) + 1,
          'half the panel and one more locks',
        );
      }
    }
  },
);

t.test('[§4.1-estimate-400, §7-400-preset, §7-400-validation] what is wrong is refused', async (t) => {
  for (const preset of ['', 'free', 'Broad', 'broad ', '__proto__']) {
    const answer = await estimate({ preset });
    t.match([answer.statusCode, answer.json()], [400, { code: 'invalid_preset' }], preset);
  }
  for (const query of [
    { options: 1 },
    { options: 11 },
    { options: 2.5 },
    { options: 'two' },
    { options: '' },
    { options: '1e99' },
    { options: 'Infinity' },
    { options: '1e999' },
    { confidence_threshold: '1e999' },
    { confidence_threshold: '-Infinity' },
    { confidence_threshold: -0.01 },
    { confidence_threshold: 1.01 },
    { confidence_threshold: 'NaN' },
    { confidence_threshold: '' },
    { preset: 'x', options: 1 },
    { max_cost_usd: 'abc' },
    { max_cost_usd: -1 },
    { reasons: 'maybe' },
  ]) {
    const answer = await estimate(query);
    t.match([answer.statusCode, answer.json()], [400, { code: 'validation_error' }], JSON.stringify(query));
  }
  for (const query of [{ profile: 'x' }, { question: 'x', prompt: 'y' }, { metadata: 'x' }])
    t.equal((await estimate(query)).statusCode, 200, 'a parameter that it does not know is ignored');
  t.equal((await app.inject({ url: '/api/poll/estimate?options=2&options=3' })).statusCode, 400);
  t.equal((await app.inject({ url: '/api/poll/estimate?preset=%00' })).statusCode, 400);
});

t.test('reasons cost more and a limit bounds the worst case, as they do in a poll', async (t) => {
  const plain = (await estimate()).json().cost_usd;
  const cost = async (query: object) => (await estimate({ ...query })).json().cost_usd;
  t.ok((await cost({ reasons: true })).expected > plain.expected);
  t.same(await cost({ reasons: false }), plain);
  t.equal((await cost({ max_cost_usd: plain.max / 2 })).max, plain.max / 2);
});

t.test(
  '[§4.1-estimate-no-model-call] nothing is queued, stored or asked, and equal questions get equal answers',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('broad', 'fast', 'strong'),
        fc.integer({ min: 2, max: 10 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (preset, options, confidence_threshold) => {
          const [one, other] = [
            (await estimate({ preset, options, confidence_threshold })).json(),
            (await estimate({ preset, options, confidence_threshold })).json(),
          ];
          return JSON.stringify({ ...one, generated_at: '' }) === JSON.stringify({ ...other, generated_at: '' });
        },
      ),
      { numRuns: 30 },
    );
    t.same(await context.bus.redis.keys(`${context.bus.prefix}:*poll*`), []);
  },
);

t.test('figures follow what the models did lately', async (t) => {
  const catalogue = (await estimate({ preset: 'fast' })).json();
  const other = await build(t);
  for (const { id } of other.context.panels.panel('fast').models) await failsHalf(other.context, id);
  const recent = (await other.app.inject({ url: '/api/poll/estimate?preset=fast' })).json();
  t.match(recent, { basis: 'recent_polls', sample_size: 500 });
  t.ok(recent.latency_ms.p50 > catalogue.latency_ms.p50 * 2, 'slow models make slow polls');
  t.ok(recent.models.expected_calls > catalogue.models.expected_calls, 'failures have to be made up for');
  t.ok(recent.cost_usd.expected < catalogue.cost_usd.expected * 2, 'and are not billed');
});

t.test('the record of a failing model is frozen into the polls that ask it', async (t) => {
  const { app, context, keyWith } = await build(t);
  const [failing, sound] = context.panels.panel('fast').models;
  await failsHalf(context, failing!.id);
  const { ran } = await standInWorker(t, context);
  const { bearer } = await keyWith(1);
  const payload = { question: 'Which of these is best?', options: ['A', 'B'], preset: 'fast' };
  t.equal((await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).statusCode, 200);
  const { seats } = (await findPoll(context.storage, ran[0]!))!.spec;
  const seatOf = (id: string) => seats.find((seat) => seat.model_id === id)!;
  t.equal(seatOf(failing!.id).failure_rate, 0.3, 'half of its votes fail; a rate is believed up to 0.3');
  t.ok(seatOf(failing!.id).p90_ms > 20_000);
  t.match(seatOf(sound!.id), { failure_rate: 0, p90_ms: sound!.p90Ms });
});

/** A model's record as workers leave it: of a hundred calls half failed, the others took very long. */
const failsHalf = ({ bus }: Context, modelId: string) =>
  bus.redis.hset(
    `${bus.prefix}:models:health`,
    modelId,
    JSON.stringify({ at: Date.now(), calls: 100, fails: 50, bins: [...Array(30).fill(0), 50], v: 0, level: 0 }),
  );
