import { balanceOf } from '@eloquentpoll/storage';
import fc from '@eloquentpoll/testkit/fast-check';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 4 s

const QUESTION = 'Which of these is the best choice?';
const GOOD = { question: QUESTION, options: ['A', 'B'] };

t.test('[§4.1-poll-400, §7-400-validation] what breaks a rule is refused, in words that name the field', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer, accountId } = await keyWith(10);
  const post = (payload: unknown) =>
    app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: { ...bearer, 'content-type': 'application/json', accept: 'application/problem+json' },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });

  const refused = async (payload: unknown, pointer: string, says: RegExp, code = 'validation_error') => {
    const answer = await post(payload);
    const problem = answer.json();
    const name = JSON.stringify(payload).slice(0, 80);
    t.equal(answer.statusCode, 400, name);
    t.match(problem, { code, retryable: false, errors: [{ pointer }] }, name);
    t.match(problem.errors[0].detail, says, name);
  };
  const without = (name: string) => Object.fromEntries(Object.entries(GOOD).filter(([key]) => key !== name));

  // [§2.1-question-required, §2.1-question-min-length, §8-question-min, §2.1-prompt-min-length, §2.1-question-type]
  await refused(without('question'), '#/question', /^question is required$/);
  await refused({ ...GOOD, question: 'too short' }, '#/question', /^question must be at least 10 characters$/);
  await refused({ ...GOOD, question: '😀'.repeat(9) }, '#/question', /at least 10/);
  await refused({ ...without('question'), prompt: 'too short' }, '#/prompt', /at least 10/);
  await refused({ ...GOOD, question: ' '.repeat(12) }, '#/question', /blank/);

  // [§2.1-options-only-required, §2.1-options-required, §2.1-options-min-items, §2.1-options-max-items]
  // [§2.1-options-max-length, §2.1-options-unique, §8-options, §2.1-options-type, §1-options-2-to-10]
  await refused({ preset: 'broad' }, '#/options', /^options is required$/);
  await refused({ ...GOOD, options: [] }, '#/options', /at least 2 items/);
  await refused({ ...GOOD, options: ['A'] }, '#/options', /at least 2 items/);
  await refused({ ...GOOD, options: Array.from({ length: 11 }, (_, i) => `o${i}`) }, '#/options', /at most 10 items/);
  await refused(
    { ...GOOD, options: ['A', 'x'.repeat(201)] },
    '#/options/1',
    /^options\[1\] must be at most 200 characters$/,
  );
  await refused({ ...GOOD, options: ['A', '😀'.repeat(201)] }, '#/options/1', /at most 200/);
  await refused({ ...GOOD, options: ['A', ''] }, '#/options/1', /empty/);
  await refused({ ...GOOD, options: ['A', ' \u200B'] }, '#/options/1', /blank/);
  await refused({ ...GOOD, options: ['A', 'B', 'A'] }, '#/options', /unique/);
  await refused({ ...GOOD, options: ['__proto__', '__proto__'] }, '#/options', /unique/);
  await refused({ ...GOOD, options: ['Paris', ' Paris\u200B'] }, '#/options/1', /"Paris".*are the same text/);
  await refused({ ...GOOD, options: ['A', 'B\u0007'] }, '#/options/1', /control/);
  await refused({ ...GOOD, options: ['A', 'B\u202E'] }, '#/options/1', /direction/);
  await refused({ ...GOOD, options: ['A', 'B\u{E0042}'] }, '#/options/1', /tag/);

  // [§2.1-poll-type-enum, §2.1-preset-enum, §7-400-preset, §2.1-confidence-threshold-min, §2.1-confidence-threshold-max]
  // [§2.1-max-cost-usd-positive, §A6-max-cost-cap, §8-max-cost-usd, §8-confidence-threshold]
  await refused({ ...GOOD, poll_type: 'borda' }, '#/poll_type', /one of fptp/);
  await refused({ ...GOOD, preset: 'cheap' }, '#/preset', /one of broad, fast, strong/, 'invalid_preset');
  await refused({ ...GOOD, preset: 'free' }, '#/preset', /one of/, 'invalid_preset');
  await refused({ ...GOOD, confidence_threshold: -0.01 }, '#/confidence_threshold', /at least 0/);
  await refused({ ...GOOD, confidence_threshold: 1.01 }, '#/confidence_threshold', /at most 1/);
  await refused({ ...GOOD, max_cost_usd: 0 }, '#/max_cost_usd', /greater than 0/);
  await refused({ ...GOOD, max_cost_usd: 25.01 }, '#/max_cost_usd', /at most 25/);

  // [§I2-never-coerced, §A6-never-coerced, §2.1-confidence-threshold-type, §2.1-max-cost-usd-type]
  const types = {
    question: [5, true, null, [QUESTION], { a: 1 }],
    options: ['A,B', { length: 2 }, null, 2],
    preset: [1, null, ['broad']],
  };
  const numbers = ['0.9', '1', true, null, [0.9], {}];
  for (const [field, values] of Object.entries({ ...types, confidence_threshold: numbers, max_cost_usd: numbers })) {
    const code = field === 'preset' ? 'invalid_preset' : 'validation_error';
    for (const value of values) await refused({ ...GOOD, [field]: value }, `#/${field}`, /must be/, code);
  }
  await refused({ ...GOOD, options: ['A', 5] }, '#/options/1', /must be a string/);
  for (const root of ['null', '[]', '"text"', '5', 'true']) await refused(root, '#', /^the request must be an object$/);

  const balance = await balanceOf(context.storage, accountId);
  t.match(balance, { postedU: 10_000_000n, heldU: 0n, usageU: 0n }, 'nothing was held');
});

t.test('[§I2-nul-400, §I2-lone-surrogate-400] text that is not text is refused wherever it stands', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  const bad = ['\u0000', '\uD800', '\uDC00', '\uDC00\uD800'];
  const places = (text: string) => [
    { ...GOOD, question: QUESTION + text },
    { prompt: QUESTION + text, options: ['A', 'B'] },
    { ...GOOD, options: ['A', `B${text}`] },
    { ...GOOD, preset: text },
    { ...GOOD, poll_type: text },
    { ...GOOD, surface: text },
    { ...GOOD, unknown: { deep: [text] } },
    { ...GOOD, [text]: 1 },
  ];
  for (const payload of bad.flatMap(places)) {
    const answer = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
    t.match([answer.statusCode, answer.json().code], [400, 'validation_error'], JSON.stringify(payload));
  }
  for (const url of ['/api/poll?x=%00', '/api/health?a=%00', '/api/health?%00=a']) {
    t.equal((await app.inject({ method: 'GET', url })).statusCode, 400, url);
  }
});

t.test(
  '[§I2-body-64kb-413, §I2-proto-body-400] bodies have a size, a depth and no members that reach a prototype',
  async (t) => {
    const { app, keyWith } = await build(t);
    const { bearer } = await keyWith(10);
    const post = async (payload: string | Buffer) => {
      const headers = { ...bearer, 'content-type': 'application/json' };
      const answer = await app.inject({ method: 'POST', url: '/api/poll', headers, payload });
      return [answer.statusCode, answer.json().code];
    };
    const padded = (bytes: number) => JSON.stringify({ pad: 'x'.repeat(bytes - '{"pad":""}'.length) });
    t.same(await post(padded(64 * 1024 + 1)), [413, 'payload_too_large']);
    t.same(await post(padded(64 * 1024)), [400, 'validation_error'], 'exactly 64 KB is read');

    t.same(await post('{"__proto__":{"a":1}}'), [400, 'validation_error']);
    t.same(await post('{"a":[{"__proto__":1}]}'), [400, 'validation_error']);
    t.same(await post('{"\\u005f_proto__":{"question":"no"}}'), [400, 'validation_error']);
    t.same(await post('['.repeat(21) + ']'.repeat(21)), [400, 'validation_error']);
    t.same(await post('['.repeat(50_000)), [400, 'malformed_json']);
    t.same(await post(`${'{"a":'.repeat(21)}1${'}'.repeat(21)}`), [400, 'validation_error']);

    for (const text of ['{', '', ' ', 'undefined', "{'a':1}", '{"a":1,}', '{"a":NaN}', '{"a":1}{"b":2}', '\u0000']) {
      const [status] = await post(text);
      t.equal(status, 400, JSON.stringify(text));
    }
    t.same(await post(Buffer.from([0x7b, 0xff, 0x7d])), [400, 'malformed_json'], 'not UTF-8');
    t.same(await post(Buffer.from('{"a":1}', 'utf16le')), [400, 'malformed_json']);
  },
);

t.test('no content type is a way round the checks', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer, accountId } = await keyWith(10);
  const json = [
    'application/json',
    'APPLICATION/JSON',
    'application/json;',
    'application/json; charset=utf-8',
    'application/json ;x=y',
  ];
  const other = [
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json5',
    'application/vnd.api+json',
    'application/a2a+json',
    'application/jsonx',
    'application/json/x',
    'application/json, text/plain',
    'text/plain, application/json',
    'text/plain; application/json',
    'application',
    '/',
    '*/*',
    'json',
    'application/json\t',
    '\tapplication/json',
    'application/\tjson',
    'application /json',
    'application/json\ttext',
    'application/json x',
    'application/octet-stream',
    'application/json\u00A0',
    'applicatıon/json',
    '; application/json',
    ',application/json',
    '""',
    'null',
  ];
  const bad = JSON.stringify({ question: 5, options: 'no', preset: [] });
  for (const type of [...json, ...other]) {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: { ...bearer, 'content-type': type },
      payload: bad,
    });
    t.ok(answer.statusCode === 400 || answer.statusCode === 415, `${JSON.stringify(type)}: ${answer.statusCode}`);
    if (json.includes(type)) t.equal(answer.statusCode, 400, JSON.stringify(type));
  }
  const none = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer });
  t.match([none.statusCode, none.json().error], [400, 'the request must be an object']);
  t.match(await balanceOf(context.storage, accountId), { heldU: 0n, usageU: 0n });
});

t.test('[§A6-unknown-fields-ignored, §I2-errors-leak-nothing] any JSON gets an answer of the contract', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(0);
  const field = fc.constantFrom(
    'question',
    'prompt',
    'options',
    'preset',
    'poll_type',
    'confidence_threshold',
    'max_cost_usd',
    'account_id',
  );
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(QUESTION, ['A', 'B'], 'broad', 1e308, -0),
  );
  const body = fc.oneof(fc.dictionary(field, value), fc.jsonValue());
  const headers: InjectOptions['headers'] = { ...bearer, 'content-type': 'application/json' };
  await fc.assert(
    fc.asyncProperty(body, async (payload) => {
      const answer = await app.inject({ method: 'POST', url: '/api/poll', headers, payload: JSON.stringify(payload) });
      return [400, 402].includes(answer.statusCode);
    }),
    { numRuns: 500 },
  );
  t.pass('every body is refused with 400 or 402');
});
