import { balanceOf, FREE_POOL, findPollByResult } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { type Opinion, standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const gateway = await build(t);
const { app, context, keyWith } = gateway;
const { bearer, accountId } = await keyWith(10);
/** Ties where the question asks for one, no vote at all where it asks for that, and else the second option. */
const opinion: Opinion = (seat, { question }) =>
  question.includes('nothing') ? null : question.includes('tie') ? (seat < 8 ? seat % 2 : null) : 1;
await standInWorker(t, context, { opinion });

const chat = (payload: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url: '/v1/chat/completions', headers: { ...headers }, payload });
const TEXT = 'The parcel came late and broken.';
const LABELS = ['positive', 'negative', 'neutral'];
const ask = (more: object = {}) => ({
  model: 'eloquentpoll/broad',
  messages: [{ role: 'user', content: `${TEXT} [positive, negative, neutral]` }],
  ...more,
});
const schema = (given: object) => ({
  type: 'json_schema',
  json_schema: { name: 'answer', strict: true, schema: given },
});
const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const label = { type: 'string', enum: LABELS };
const plain = [{ role: 'user', content: TEXT }];

t.test('options in the text: the winner is the content, and the poll is beside it', async (t) => {
  const answer = await chat(ask());
  t.equal(answer.statusCode, 200);
  const { id, object, created, model, choices, eloquentpoll: poll } = answer.json();
  t.match([id, object, model], [/^chatcmpl-ps_/, 'chat.completion', 'eloquentpoll/broad']);
  t.ok(Math.abs(created - Date.now() / 1_000) < 60);
  const message = { role: 'assistant', content: 'negative', refusal: null };
  t.same(choices, [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]);
  const stored = await findPollByResult(context.storage, poll.poll_id);
  t.match(stored, { accountId, entryPoint: 'chat', spec: { question: TEXT, options: LABELS, panel_name: 'broad' } });
  t.match(poll, {
    result_url: `https://polls.example/api/results/${poll.poll_id}`,
    page_url: `https://polls.example/result/${poll.poll_id}`,
    status: 'success',
    preset: 'broad',
    winning_option: 'negative',
    is_tie: false,
    confidence: 1,
    tally: { positive: 0, negative: 9, neutral: 0 },
    models_asked: 9,
    simulated: true,
  });
  const { usageU } = (await balanceOf(context.storage, accountId))!;
  t.equal(poll.cost_usd, Number(usageU) / 1_000_000);
  t.ok(poll.cost_usd > 0);
});

t.test('every model is its panel, and free costs nothing, with a key and without', async (t) => {
  for (const preset of ['fast', 'strong', 'free'])
    t.match((await chat(ask({ model: `eloquentpoll/${preset}` }))).json().eloquentpoll, { preset }, preset);
  const before = (await balanceOf(context.storage, FREE_POOL))!.usageU;
  const free = await chat(ask({ model: 'eloquentpoll/free' }), {});
  t.match(free.json().eloquentpoll, { preset: 'free', cost_usd: 0 });
  t.ok((await balanceOf(context.storage, FREE_POOL))!.usageU > before, 'the operator paid');
  t.equal((await findPollByResult(context.storage, free.json().eloquentpoll.poll_id))!.accountId, null);
});

t.test('a schema with one choice: the content is JSON of it', async (t) => {
  const nested = object({ result: object({ label }) });
  const cases: [string, object, unknown][] = [
    ['one property', object({ label }), { label: 'negative' }],
    ['the root', label, 'negative'],
    [
      'literals of zod',
      object({ label: { anyOf: LABELS.map((text) => ({ type: 'string', const: text })) } }),
      { label: 'negative' },
    ],
    ['oneOf', { oneOf: LABELS.map((text) => ({ const: text })) }, 'negative'],
    ['nullable', object({ label: { anyOf: [label, { type: 'null' }] } }), { label: 'negative' }],
    [
      'null among the values',
      object({ label: { type: ['string', 'null'], enum: [...LABELS, null] } }),
      { label: 'negative' },
    ],
    [
      'an Enum of pydantic',
      { ...object({ label: { $ref: '#/$defs/Label' } }), $defs: { Label: { ...label, title: 'Label' } } },
      { label: 'negative' },
    ],
    [
      'its older form',
      { ...object({ label: { allOf: [{ $ref: '#/definitions/Label' }] } }), definitions: { Label: label } },
      { label: 'negative' },
    ],
    [
      'a reference at the root',
      { $ref: '#/definitions/Answer', definitions: { Answer: object({ label }) } },
      { label: 'negative' },
    ],
    ['nested', nested, { result: { label: 'negative' } }],
    ['a constant beside it', object({ kind: { const: 'sentiment' }, label }), { kind: 'sentiment', label: 'negative' }],
    ['an enum of one beside it', object({ kind: { enum: ['x'] }, label }), { kind: 'x', label: 'negative' }],
    [
      'nullable members beside it',
      object({ why: { type: ['string', 'null'] }, label, note: { anyOf: [{ type: 'number' }, { type: 'null' }] } }),
      { why: null, label: 'negative', note: null },
    ],
    [
      'a nullable constant beside it',
      object({ label, flag: { anyOf: [{ const: 'urgent' }, { type: 'null' }] } }),
      { label: 'negative', flag: null },
    ],
    [
      'a nullable enum of one beside it',
      object({ label, flag: { type: ['string', 'null'], enum: ['urgent', null] } }),
      { label: 'negative', flag: null },
    ],
    [
      'null before the one value',
      object({ label, flag: { enum: [null, 'urgent'] } }),
      { label: 'negative', flag: null },
    ],
    ['optional members beside it', object({ why: { type: 'string' }, label }, ['label']), { label: 'negative' }],
    ['an optional choice', object({ label }, []), { label: 'negative' }],
  ];
  for (const [name, given, due] of cases) {
    const answer = await chat(ask({ messages: plain, response_format: schema(given) }));
    t.equal(answer.statusCode, 200, `${name}: ${answer.body}`);
    const { message, finish_reason } = answer.json().choices[0];
    t.same(JSON.parse(message.content), due, name);
    t.equal(finish_reason, 'stop');
  }
});

t.test('a forced tool: the winner is its argument', async (t) => {
  const classify = { type: 'function', function: { name: 'classify', parameters: object({ label }) } };
  const other = { type: 'function', function: { name: 'other' } };
  for (const [tools, tool_choice] of [
    [[classify, other], { type: 'function', function: { name: 'classify' } }],
    [[classify], 'required'],
  ] as const) {
    const { choices, eloquentpoll } = (await chat(ask({ messages: plain, tools, tool_choice }))).json();
    t.match(choices, [
      {
        message: {
          content: null,
          tool_calls: [
            { id: /^call_ps_/, type: 'function', function: { name: 'classify', arguments: '{"label":"negative"}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ]);
    t.equal(eloquentpoll.winning_option, 'negative');
  }
  for (const tool_choice of ['auto', 'none', undefined])
    t.match(
      (await chat(ask({ tools: [classify], tool_choice }))).json().choices[0].message,
      { content: 'negative' },
      'no tool is called',
    );
});

t.test('system messages and what the choice is described as stand in front of the question', async (t) => {
  const messages = [
    { role: 'system', content: 'Classify the sentiment.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be fair.' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Late' },
        { type: 'text', text: 'and broken' },
      ],
    },
  ];
  const described = {
    ...object({ label: { ...label, description: 'How the customer feels' } }),
    description: 'A feeling',
  };
  const { eloquentpoll } = (await chat(ask({ messages, response_format: schema(described) }))).json();
  t.equal(
    (await findPollByResult(context.storage, eloquentpoll.poll_id))!.spec.question,
    'Classify the sentiment.\n\nBe fair.\n\nA feeling\n\nHow the customer feels\n\nLate\nand broken',
  );
});

t.test('threshold, maximum cost and reasons are those of any poll', async (t) => {
  const { eloquentpoll } = (await chat(ask({ confidence_threshold: 0.6, max_cost_usd: 0.5, reasons: true }))).json();
  const poll = await findPollByResult(context.storage, eloquentpoll.poll_id);
  t.match(poll!.spec, { confidence_threshold: 0.6, max_cost_u: 500_000, reasons: true });
  t.match(eloquentpoll.reasons, [{ model_id: /^sim\//, chosen_option: 'negative', reason: 'Because it is.' }]);
});

t.test('what has no effect is accepted, and null is as good as nothing', async (t) => {
  const ignored = {
    temperature: 0,
    max_tokens: 5,
    seed: 1,
    user: 'u',
    store: true,
    metadata: { a: 'b' },
    n: 1,
    logprobs: false,
  };
  const nulls = {
    tools: null,
    tool_choice: null,
    response_format: null,
    stream: null,
    stop: null,
    audio: null,
    reasons: null,
  };
  const answer = await chat(ask({ ...ignored, ...nulls, service_tier: 'auto', modalities: ['text'] }));
  t.equal(answer.statusCode, 200, answer.body);
});

t.test('a tie is a refusal, in each form, and its tally is there', async (t) => {
  const tied = [{ role: 'user', content: 'Make a tie of this one. [A, B]' }];
  const parameters = object({ label: { enum: ['A', 'B'] } });
  const tools = [{ type: 'function', function: { name: 'f', parameters } }];
  for (const more of [{}, { response_format: schema(parameters) }, { tools, tool_choice: 'required' }]) {
    const answer = await chat(ask({ messages: tied, ...more }));
    const { choices, eloquentpoll } = answer.json();
    const refusal = 'The poll is a tie, so no option has won: A 4, B 4.';
    const message = { role: 'assistant', content: null, refusal };
    t.same(choices, [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]);
    t.match(eloquentpoll, { winning_option: null, is_tie: true, confidence: null, tally: { A: 4, B: 4 } });
  }
});

t.test('a poll without a vote is an error, and one whose cost pays for none says so', async (t) => {
  const failed = await chat(ask({ messages: [{ role: 'user', content: 'Say nothing at all. [A, B]' }] }));
  t.equal(failed.statusCode, 422);
  t.match(failed.json(), { error: { code: 'poll_failed', type: 'invalid_request_error' } });
});

t.test('the same Idempotency-Key is the same poll', async (t) => {
  const headers = { ...bearer, 'idempotency-key': 'chat-1' };
  const first = await chat(ask(), headers);
  const again = await chat(ask({ temperature: 1 }), headers);
  t.equal(again.headers['idempotent-replayed'], 'true');
  t.match(again.json(), { id: first.json().id, eloquentpoll: first.json().eloquentpoll });
  const other = await chat(ask({ messages: [{ role: 'user', content: 'Another question [A, B]' }] }), headers);
  t.match([other.statusCode, other.json().error.code], [422, 'idempotency_key_reused']);
});

t.test('a client does not repeat by itself what would be a second poll', async (t) => {
  const broken = await build(t);
  const rich = await broken.keyWith(10);
  await standInWorker(t, broken.context, { buries: true });
  const lost = (headers: object = {}) =>
    broken.app.inject({
      method: 'POST',
      url: '/v1/chat/completions',
      headers: { ...rich.bearer, ...headers },
      payload: ask(),
    });
  const once = await lost();
  t.match([once.statusCode, once.json().error.code], [500, 'poll_execution_failed']);
  t.equal(once.headers['x-should-retry'], 'false');
  t.notOk('x-should-retry' in (await lost({ 'idempotency-key': 'safe' })).headers, 'with a key it may');
});

t.test('a browser may send what the clients add', async (t) => {
  const { headers } = await app.inject({ method: 'OPTIONS', url: '/v1/chat/completions' });
  const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ');
  for (const name of [
    'authorization',
    'content-type',
    'x-stainless-lang',
    'x-stainless-retry-count',
    'openai-project',
    'user-agent',
  ])
    t.ok(allowed.includes(name), name);
  t.equal(
    (await chat(ask(), { ...bearer, origin: 'https://elsewhere.example' })).headers['access-control-allow-origin'],
    '*',
  );
});

t.test('models are listed and found, in the vendor form', async (t) => {
  const list = (await app.inject({ url: '/v1/models' })).json();
  const ids = ['broad', 'fast', 'strong', 'free'].map((name) => `eloquentpoll/${name}`);
  t.same(
    list.data.map(({ id }: { id: string }) => id),
    ids,
  );
  t.equal(list.object, 'list');
  for (const [i, id] of ids.entries())
    for (const path of [encodeURIComponent(id), id])
      t.same((await app.inject({ url: `/v1/models/${path}` })).json(), list.data[i], path);
  const missing = await app.inject({ url: '/v1/models/gpt-4o' });
  t.equal(missing.statusCode, 404);
  t.match(missing.json().error, { code: 'model_not_found', param: 'model', message: /eloquentpoll\/broad/ });
});

t.test('metadata is kept for an account, and left out where there is none', async (t) => {
  const metadata = { batch: '7' };
  const stored = async (answer: { json(): { eloquentpoll: { poll_id: string } } }) =>
    context.storage.db
      .selectFrom('polls')
      .select('metadata')
      .where('result_id', '=', answer.json().eloquentpoll.poll_id)
      .executeTakeFirstOrThrow();
  t.same(await stored(await chat(ask({ metadata }))), { metadata });
  const free = await chat(ask({ model: 'eloquentpoll/free', metadata }), {});
  t.equal(free.statusCode, 200);
  t.same(await stored(free), { metadata: null });
});
