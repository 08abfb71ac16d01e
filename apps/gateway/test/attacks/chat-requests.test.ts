import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { ERROR_CODES } from '@eloquentpoll/contracts';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { readPolicies } from '../../src/config/rate-limit-policies.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { times } from './full-scale.ts';

// slow: 5 s

// What goes wrong under /v1 is a 4xx in the form that clients of the OpenAI API read, whatever was sent.

const { app, context, keyWith } = await build(t, { rateLimits: readPolicies('free_poll=3/60') });
const { bearer } = await keyWith(5);
const poor = await keyWith(0);
await standInWorker(t, context);

const send = (payload: object | string, headers: Record<string, string> = bearer) =>
  app.inject({
    method: 'POST',
    url: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', ...headers },
    payload,
  });
const ask = (more: object = {}) => ({
  model: 'eloquentpoll/fast',
  messages: [{ role: 'user', content: 'Which of these is larger? [A, B]' }],
  ...more,
});
const plain = [{ role: 'user', content: 'Which of these is larger?' }];
const format = (schema: unknown) => ({
  messages: plain,
  response_format: { type: 'json_schema', json_schema: { schema } },
});
const object = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) });
const tool = (parameters: unknown, name: unknown = 'f') => ({ type: 'function', function: { name, parameters } });
const ab = { enum: ['A', 'B'] };

async function refused(answer: Awaited<ReturnType<typeof send>>, status: number, error: object, what: string) {
  t.equal(answer.statusCode, status, `${what}: ${answer.body.slice(0, 300)}`);
  t.same(Object.keys(answer.json()), ['error'], what);
  t.match(answer.json().error, error, what);
  t.equal(answer.json().error.request_id, answer.headers['x-request-id']);
}

t.test('a request without options shows one that works', async (t) => {
  const { message } = (await send(ask({ messages: plain }))).json().error;
  const example = /\{.*\]\}/.exec(message)![0];
  t.equal((await send(example, {})).json().choices[0].message.content, 'Vancouver', 'as it stands, without a key');
});

t.test('each thing that is wrong is a 400 that names its member', async () => {
  const WRONG: [string, object | string, string | null][] = [
    ['no model', { messages: plain }, 'model'],
    ['a model that is a number', ask({ model: 1 }), 'model'],
    ['no messages', { model: 'eloquentpoll/fast' }, 'messages'],
    ['no message', ask({ messages: [] }), 'messages'],
    ['messages as text', ask({ messages: 'Which? [A, B]' }), 'messages'],
    ['a message that is null', ask({ messages: [null] }), 'messages[0]'],
    ['an answer last', ask({ messages: [{ role: 'assistant', content: 'A' }] }), 'messages[0]'],
    ['an earlier turn', ask({ messages: [...plain, { role: 'assistant', content: 'A' }, ...plain] }), 'messages[0]'],
    ['the result of a tool', ask({ messages: [{ role: 'tool', content: 'x' }, ...plain] }), 'messages[0]'],
    [
      'a picture',
      ask({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] }),
      'messages[0].content[0]',
    ],
    ['no content', ask({ messages: [{ role: 'user' }] }), 'messages[0].content'],
    ['a short question', ask({ messages: [{ role: 'user', content: 'Which [A, B]' }] }), 'messages'],
    ['no question', ask({ messages: [{ role: 'user', content: '[A, B]' }] }), 'messages'],
    ['one option', ask({ messages: [{ role: 'user', content: 'Which of these is larger? [A]' }] }), 'messages'],
    [
      'one option twice',
      ask({ messages: [{ role: 'user', content: 'Which of these is larger? [A, A]' }] }),
      'messages',
    ],
    ['an open bracket', ask({ messages: [{ role: 'user', content: 'Which of these is larger? [A, B' }] }), 'messages'],
    ['json_object', ask({ response_format: { type: 'json_object' } }), 'response_format'],
    ['an unknown format', ask({ response_format: { type: 'grammar' } }), 'response_format'],
    ['a format that is text', ask({ response_format: 'json' }), 'response_format'],
    ['no schema', ask(format(undefined)), 'response_format'],
    ['a schema without enum', ask(format(object({ a: { type: 'string' } }))), 'response_format'],
    ['numbers', ask(format(object({ a: { enum: [1, 2] } }))), 'response_format'],
    ['two enums', ask(format(object({ a: ab, b: ab }))), 'response_format'],
    ['a text that no poll writes', ask(format(object({ a: ab, why: { type: 'string' } }))), 'response_format'],
    ['a list of labels', ask(format(object({ a: { type: 'array', items: ab } }))), 'response_format'],
    ['eleven options', ask(format({ enum: Array.from({ length: 11 }, (_, i) => `option ${i}`) })), 'response_format'],
    ['a long option', ask(format({ enum: ['A', 'B'.repeat(201)] })), 'response_format'],
    ['a reference to itself', ask(format({ $ref: '#' })), 'response_format'],
    ['a reference elsewhere', ask(format({ $ref: 'https://example.com/schema.json' })), 'response_format'],
    ['a reference that cannot be decoded', ask(format({ $ref: '#/%E0%A4%A' })), 'response_format'],
    ['members that grow', ask(format(growing())), 'response_format'],
    [
      'a circle',
      ask(format({ $ref: '#/$defs/a', $defs: { a: object({ b: { $ref: '#/$defs/a' } }) } })),
      'response_format',
    ],
    [
      'a tool that is not there',
      ask({ tools: [tool(ab)], tool_choice: { type: 'function', function: { name: 'g' } } }),
      'tool_choice',
    ],
    [
      'two tools of which one is required',
      ask({ tools: [tool(ab), tool(ab, 'g')], tool_choice: 'required' }),
      'tool_choice',
    ],
    ['a choice without tools', ask({ tool_choice: 'required' }), 'tool_choice'],
    ['an unknown choice', ask({ tools: [tool(ab)], tool_choice: 'some' }), 'tool_choice'],
    ['a tool without a name', ask({ tools: [tool(ab, null)] }), 'tools'],
    ['tools as an object', ask({ tools: {} }), 'tools'],
    ['a tool without parameters', ask({ tools: [tool(undefined)], tool_choice: 'required' }), 'tools'],
    ['two forms', ask({ ...format(ab), tools: [tool(ab)], tool_choice: 'required' }), 'response_format'],
    ['a threshold above 1', ask({ confidence_threshold: 2 }), 'confidence_threshold'],
    ['a cost as text', ask({ max_cost_usd: '1' }), 'max_cost_usd'],
    ['a cost of nothing', ask({ max_cost_usd: 0 }), 'max_cost_usd'],
    ['reasons as text', ask({ reasons: 'yes' }), 'reasons'],
    ['stream as text', ask({ stream: 'true' }), 'stream'],
    ['stream_options as text', ask({ stream: true, stream_options: 'x' }), 'stream_options'],
    ['a misspelt limit', ask({ max_cost: 0.01 }), 'max_cost'],
    ['a dry run', ask({ dry_run: true }), 'dry_run'],
    ['several answers', ask({ n: 2 }), 'n'],
    ['log probabilities', ask({ logprobs: true }), 'logprobs'],
    ['the best of them', ask({ top_logprobs: 3 }), 'top_logprobs'],
    ['a bias', ask({ logit_bias: { 1: 100 } }), 'logit_bias'],
    ['speech', ask({ modalities: ['text', 'audio'] }), 'modalities'],
    ['a voice', ask({ audio: { voice: 'alloy' } }), 'audio'],
    ['a prediction', ask({ prediction: { type: 'content', content: 'A' } }), 'prediction'],
    ['a search', ask({ web_search_options: {} }), 'web_search_options'],
    ['functions', ask({ functions: [] }), 'functions'],
    ['a dearer tier', ask({ service_tier: 'priority' }), 'service_tier'],
    ['a preset', ask({ preset: 'strong' }), 'preset'],
    ['options beside the schema', ask({ options: ['A', 'B'] }), 'options'],
    ['an inherited name', ask({ toString: 1 }), 'toString'],
    ['NUL', ask({ messages: [{ role: 'user', content: 'Which of these\0? [A, B]' }] }), 'messages[0].content'],
    ['a list', [ask()], null],
    ['null', 'null', null],
    ['a text', '"hello"', null],
    ['nothing', '', null],
  ];
  for (const [what, body, param] of WRONG)
    await refused(await send(body), 400, { type: 'invalid_request_error', code: 'validation_error', param }, what);
});

t.test('a reference that leads nowhere is named', async (t) => {
  const REFERENCES: [object, string][] = [
    [{ $ref: 'https://example.com/schema.json' }, 'the schema refers to https://example.com/schema.json, which'],
    [
      object({ a: { $ref: '#/$defs/Label' } }),
      'the property a refers to #/$defs/Label, which the schema does not hold',
    ],
    [object({ a: { anyOf: [ab, { $ref: '#/$defs/B' }] } }), 'the property a refers to #/$defs/B, which'],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'the schema follows more than 8 references'],
  ];
  for (const [schema, problem] of REFERENCES) {
    const { message } = (await send(ask(format(schema)))).json().error;
    t.ok(message.includes(problem), `${problem}: ${message}`);
  }
  const nullable = object({ a: ab, b: { anyOf: [{ $ref: '#/$defs/B' }, { type: 'null' }] } });
  t.equal((await send(ask(format(nullable)))).statusCode, 200, 'null is an answer that needs none');
});

/** Eight levels of references, each ten times. */
function growing(): object {
  const level = (next: string) =>
    object(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`m${i}`, { $ref: next }])));
  const $defs = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`d${i}`, level(`#/$defs/d${i + 1}`)]));
  return { $ref: '#/$defs/d0', $defs: { ...$defs, d8: { const: 1 } } };
}

t.test('so is what fails before the body is read, or outside of it', async () => {
  await refused(await send('{'), 400, { code: 'malformed_json', param: null }, 'no JSON');
  await refused(await send(ask({ user: 'x'.repeat(70_000) })), 413, { code: 'payload_too_large' }, 'a large body');
  await refused(
    await send('model=x', { ...bearer, 'content-type': 'text/plain' }),
    415,
    { code: 'unsupported_media_type' },
    'a form',
  );
  await refused(
    await send(ask(), { authorization: 'Bearer sk-no-key-of-ours' }),
    401,
    { code: 'invalid_api_key', type: 'authentication_error' },
    'a wrong key',
  );
  await refused(
    await send(ask(), {}),
    401,
    { code: 'authentication_required', message: /eloquentpoll\/free needs none/ },
    'no key',
  );
  await refused(
    await send(ask(), poor.bearer),
    402,
    { code: 'insufficient_balance', type: 'insufficient_quota' },
    'no money',
  );
  await refused(
    await send(ask({ model: 'gpt-4o' })),
    404,
    { code: 'model_not_found', param: 'model' },
    'a model of others',
  );
  await refused(await send(ask({ model: 'gpt-4o' }), {}), 404, { code: 'model_not_found' }, 'the same without a key');
  await refused(
    await send(ask(), { ...bearer, 'idempotency-key': 'a b' }),
    400,
    { code: 'validation_error', param: 'Idempotency-Key' },
    'a wrong key of idempotency',
  );
  for (const [method, url, status, code] of [
    ['POST', '/v1/responses', 404, 'not_found'],
    ['GET', '/v1', 404, 'not_found'],
    ['GET', '/v1/chat/completions', 405, 'method_not_allowed'],
    ['GET', '/v1/models/%zz', 400, 'bad_request'],
    ['GET', '/v1/models/..%2f..%2fetc', 404, 'model_not_found'],
  ] as const) {
    await refused(
      await app.inject({ method, url, headers: { accept: 'application/problem+json, text/html' } }),
      status,
      { code },
      url,
    );
  }
});

t.test('too many requests say when to come back, and bytes that are no HTTP are answered alike', async (t) => {
  const model = 'eloquentpoll/free';
  for (let i = 0; i < 5; i++)
    await refused(await send({ model, messages: plain }, {}), 400, { param: 'messages' }, 'no poll');
  const statuses = [];
  let last = await send(ask({ model }), {});
  for (; last.statusCode === 200 && statuses.length < 5; last = await send(ask({ model }), {})) statuses.push(200);
  t.equal(statuses.length, 2, 'three free polls with the one of the example: what was refused used up none');
  t.match(last.json().error, { code: 'rate_limited', type: 'rate_limit_error' });
  t.ok(Number(last.headers['retry-after']) > 0);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  for (const [path, form] of [
    ['/v1/models', /"error":\{"message"/],
    ['/api/models', /"error":"/],
  ] as const) {
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.end(`GET ${path} HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n`);
    t.match(await text(socket), form, path);
  }
});

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(
      'user',
      'text',
      'function',
      'json_schema',
      '#/$defs/a',
      'string',
      'required',
      null,
      0,
      1e308,
      true,
      '',
      'A',
      'Which? [A, B]',
      '\ud800',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        'type',
        'role',
        'content',
        'text',
        'json_schema',
        'schema',
        'properties',
        'required',
        'enum',
        'const',
        'anyOf',
        'allOf',
        '$ref',
        '$defs',
        'a',
        'function',
        'name',
        'parameters',
        'description',
        'include_usage',
      ),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;
const members = [
  'messages',
  'response_format',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
  'reasons',
  'n',
  'stop',
  'max_cost_usd',
];

t.test('any JSON in any member is refused in this form, and never a 5xx', async (t) => {
  const bodies = fc.dictionary(fc.constantFrom(...members), value, { maxKeys: 4 });
  await fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      const answer = await send(JSON.stringify({ ...ask(), ...body }));
      if (answer.statusCode === 200) return;
      const { error } = answer.json();
      if (answer.statusCode >= 500 || !ERROR_CODES.includes(error.code)) throw new Error(answer.body);
    }),
    { numRuns: times(150, 20_000) },
  );
  t.pass('all of them');
});
