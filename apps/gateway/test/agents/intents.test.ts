import fc from '@eloquentpoll/testkit/fast-check';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { INTENTS } from '../../src/agents/intents/catalogue.ts';
import { rankIntents } from '../../src/agents/intents/match-intents.ts';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);
const match = (payload: object | string | undefined) =>
  app.inject({
    method: 'POST',
    url: '/api/intents/match',
    ...(payload !== undefined && { payload, headers: { 'content-type': 'application/json' } }),
  });

t.test('[§4.3-intents-200] the intents are public and complete', async (t) => {
  const answer = await app.inject({ url: '/api/intents' });
  t.match(answer, { statusCode: 200, headers: { 'cache-control': 'public, max-age=3600', etag: /./ } });
  const { version, count, intents } = answer.json();
  t.match(version, /^\d+\.\d+\.\d+$/);
  t.equal(count, intents.length);
  t.same(
    intents.map(({ id }: { id: string }) => id),
    [
      'run_poll',
      'quick_poll',
      'estimate_cost',
      'dry_run',
      'get_result',
      'check_balance',
      'add_funds',
      'list_models',
      'submit_feedback',
      'get_code_example',
    ],
  );
  const headers = { 'if-none-match': String(answer.headers.etag) };
  t.equal((await app.inject({ url: '/api/intents', headers })).statusCode, 304);
});

/** Operations that are not served yet. */
const TO_COME = ['GET /api/examples/{language}'];

t.test('the endpoint of every intent exists and requires the credentials that it names', async (t) => {
  const { paths } = (await app.inject({ url: '/api/openapi.json' })).json();
  for (const { id, endpoint, auth } of INTENTS) {
    const operation = paths[endpoint.path]?.[endpoint.method.toLowerCase()];
    if (!operation && TO_COME.includes(`${endpoint.method} ${endpoint.path}`)) continue;
    t.ok(operation, `${id}: ${endpoint.method} ${endpoint.path}`);
    const ways: object[] = operation?.security ?? [];
    const schemes = ways.flatMap((way) => Object.keys(way));
    const without = ways.length === 0 || ways.some((way) => Object.keys(way).length === 0);
    const possible = { none: without, bearer: schemes.includes('apiKey'), cookie: schemes.includes('session') };
    t.ok(possible[auth], `${id} with ${auth}`);
  }
});

t.test('the examples of every intent satisfy its JSON Schema', async (t) => {
  const ajv = new Ajv2020({ strict: true });
  for (const { id, parameters, examples } of INTENTS) {
    const check = ajv.compile(parameters);
    t.ok(examples.length > 0);
    for (const example of examples) t.ok(check(example.parameters), `${id}: ${ajv.errorsText(check.errors)}`);
  }
});

t.test('[§4.3-match-200, §1-support-intents] every example text matches its intent with its parameters', async (t) => {
  for (const { id, name, examples, endpoint } of INTENTS) {
    for (const { text, parameters } of examples) {
      const answer = await match({ text });
      t.equal(answer.statusCode, 200);
      const body = answer.json();
      t.equal(body.text, text);
      t.match(body.best_match, { intent_id: id, name, endpoint, missing_parameters: { length: 0 } }, text);
      t.same(body.best_match.parameters, parameters, text);
      t.same(body.matches[0], body.best_match);
    }
  }
  for (const { id, trigger_phrases } of INTENTS)
    for (const phrase of trigger_phrases) {
      const found = rankIntents(phrase).matches.find(({ intent_id }) => intent_id === id);
      t.ok(found?.matched_phrases.includes(phrase), `${id}: ${phrase}`);
      t.ok(rankIntents(phrase.toUpperCase()).matches.some(({ intent_id }) => intent_id === id));
    }
});

t.test('common phrasings match the expected intent', async (t) => {
  for (const [text, id, parameters, missing = []] of [
    ['ask several models', 'run_poll', {}, ['question', 'options']],
    ['Ask several models: what is my balance sheet risk? [Low, High]', 'run_poll', { options: ['Low', 'High'] }],
    ['Should we use Rust or Go?', 'quick_poll', { options: ['Rust', 'Go'] }],
    ['Double check that 17 is prime', 'quick_poll', { question: 'that 17 is prime' }],
    ['top up', 'add_funds', {}, ['amount_usd']],
    ['top up with $100000', 'add_funds', {}, ['amount_usd']],
    ['deposit usdc please, 12.50 usd', 'add_funds', { amount_usd: 12.5 }],
    ['what does a poll cost?', 'estimate_cost', {}, ['options']],
    ['what does a poll cost with 99 options?', 'estimate_cost', {}, ['options']],
    ['the outcome was correct', 'submit_feedback', { outcome_correct: true }, ['poll_id']],
    ['EP-2026-11-20-0123456789abcdef', 'get_result', { resultId: 'EP-2026-11-20-0123456789abcdef' }],
    ['show me how to call you in TypeScript', 'get_code_example', { language: 'typescript' }],
    ['list the models', 'list_models', {}],
  ] as const) {
    const { best_match } = rankIntents(text);
    t.match(best_match, { intent_id: id, parameters, missing_parameters: missing }, text);
    t.equal(best_match?.missing_parameters.length, missing.length, text);
  }
});

t.test('[§4.3-match-none] requests that no operation serves match nothing', async (t) => {
  for (const text of ['hello there', 'How is the weather in Oslo?', 'the of and to', '¿?', '🙂🙂🙂', '今日は']) {
    const { matches, best_match } = (await match({ text })).json();
    t.same([matches, best_match], [[], null], text);
  }
});

t.test('[§4.3-match-400, §7-400-intent-text] a missing or blank text is missing_text', async (t) => {
  const blank = ['', ' ', '\n\t', '\u200b\u2060', '\u00a0'].map((text) => ({ text }));
  const wrong = [null, 5, true, ['run a poll'], { text: 'run a poll' }].map((text) => ({ text }));
  for (const body of [undefined, 'null', '[]', '"run a poll"', {}, { Text: 'run a poll' }, ...blank, ...wrong]) {
    const answer = await match(body);
    t.match([answer.statusCode, answer.json().code], [400, 'missing_text'], JSON.stringify(body));
  }
  t.match((await match({ text: 'x'.repeat(2_001) })).json(), { code: 'validation_error' });
  t.match((await match('{"text":')).json(), { code: 'malformed_json' });
  t.equal((await match({ text: '🙂'.repeat(2_000) })).statusCode, 200);
});

const HARD = [
  'ask several models '.repeat(105),
  'a '.repeat(1_000),
  '['.repeat(2_000),
  '[a,'.repeat(660),
  `${' '.repeat(1_999)}a`,
  `ask${' '.repeat(1_990)}several`,
  'or '.repeat(660),
  ' between and '.repeat(150),
  ':,.- '.repeat(400),
  '$1111'.repeat(400),
  '9'.repeat(2_000),
  'EP-2026-11-20-'.repeat(140),
  '\\"'.repeat(1_000),
];

t.test('any text gets a valid answer, the same each time', async (t) => {
  const words = fc.constantFrom(
    ...new Set(INTENTS.flatMap(({ trigger_phrases }) => trigger_phrases.join(' ').split(' '))),
  );
  const spoken = fc.array(fc.oneof(words, fc.string({ maxLength: 8 })), { maxLength: 60 }).map((all) => all.join(' '));
  const text = fc.oneof(spoken, fc.string({ maxLength: 300, unit: 'grapheme' }), fc.constantFrom(...HARD));
  fc.assert(
    fc.property(text, (text) => {
      const found = rankIntents(text);
      const { matches, best_match } = found;
      return (
        JSON.stringify(rankIntents(text)) === JSON.stringify(found) &&
        best_match === (matches[0] ?? null) &&
        matches.length <= 5 &&
        matches.every(({ score }) => score >= 0.3 && score <= 1) &&
        matches.every((one, i) => i === 0 || isBefore(matches[i - 1]!, one))
      );
    }),
    { numRuns: 300 },
  );
  t.end();
});

interface Scored {
  score: number;
  intent_id: string;
}

const isBefore = (a: Scored, b: Scored): boolean =>
  a.score > b.score || (a.score === b.score && a.intent_id < b.intent_id);
