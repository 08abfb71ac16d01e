import { readFileSync } from 'node:fs';
import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import type { Model } from '../src/panel-types.ts';
import { readAnswer, readProviderCost, readUsage } from '../src/read-answer.ts';
import { completion, toolCall } from './misbehaving-server.ts';

const LABELS = ['QJ', 'ZR', 'KF'];
const model = (answer: Model['answer']) => ({ answer, maxOutputTokens: 4_000 });
const json = (content: unknown, rest: Record<string, unknown> = {}) =>
  readAnswer(model('json_schema'), completion({ content, ...rest }), LABELS);
const line = (content: unknown) => readAnswer(model('line'), completion({ content }), LABELS);
const tool = (...calls: unknown[]) => readAnswer(model('tool'), completion({ tool_calls: calls }), LABELS);

t.test('the exact label in the channel that was asked for is a vote', async (t) => {
  t.match(json('{"choice":"ZR"}'), { vote: 1 });
  t.match(json('{"rationale":"Because \\"choice\\": QJ is bad","choice":"KF"}'), { vote: 2 });
  t.match(json(' {"choice" : "QJ"}\n'), { vote: 0 });
  t.match(json('```json\n{"choice":"QJ"}\n```'), { vote: 0 });
  t.match(line('I weigh QJ against ZR.\nVOTE: ZR'), { vote: 1 });
  t.match(line('VOTE: ZR\n\n'), { vote: 1 });
  t.match(tool(toolCall('vote', { rationale: 'so', choice: 'KF' })), { vote: 2 });
});

const malformed = { error: 'malformed' };
const invalid = { error: 'invalid_choice' };
const garbage: [string, object, object][] = [
  ['empty', json(''), malformed],
  ['null', json(null), malformed],
  ['prose', json('I choose QJ.'), malformed],
  ['prose before JSON', json('Sure! {"choice":"QJ"}'), malformed],
  ['prose after JSON', json('{"choice":"QJ"} Hope this helps'), malformed],
  ['truncated JSON', json('{"choice":"QJ'), malformed],
  ['two objects', json('{"choice":"QJ"}{"choice":"ZR"}'), malformed],
  ['the same key twice', json('{"choice":"QJ","choice":"ZR"}'), malformed],
  ['a list', json('["QJ"]'), malformed],
  ['a list of choices', json('{"choice":["QJ"]}'), malformed],
  ['a choice that is an object', json('{"choice":{"label":"QJ"}}'), malformed],
  ['a number', json('{"choice":1}'), malformed],
  ['null choice', json('{"choice":null}'), malformed],
  ['no choice', json('{"answer":"QJ"}'), malformed],
  ['the wrong case of the key', json('{"Choice":"QJ"}'), malformed],
  ['a bare string', json('"QJ"'), malformed],
  ['content in parts', json([{ type: 'text', text: '{"choice":"QJ"}' }]), malformed],
  [
    'a tool call where JSON was asked',
    readAnswer(model('json_schema'), completion({ tool_calls: [toolCall('vote', { choice: 'QJ' })] }), LABELS),
    malformed,
  ],
  ['lower case', json('{"choice":"qj"}'), invalid],
  ['with a space', json('{"choice":"QJ "}'), invalid],
  ['in brackets', json('{"choice":"[QJ]"}'), invalid],
  ['the letter A', json('{"choice":"A"}'), invalid],
  ['a place', json('{"choice":"1"}'), invalid],
  ['another label', json('{"choice":"XX"}'), invalid],
  ['a name of Object', json('{"choice":"constructor"}'), invalid],
  ['look-alike letters', json('{"choice":"\u0405J"}'), invalid],
  ['full width', json('{"choice":"\uff31\uff2a"}'), invalid],
  ['two labels', json('{"choice":"QJ, ZR"}'), invalid],
  ['an empty choice', json('{"choice":""}'), invalid],
  ['a line that is not the last', line('VOTE: QJ\nThat is my vote.'), malformed],
  ['a line with more on it', line('My VOTE: QJ'), malformed],
  ['a line in bold', line('**VOTE: QJ**'), malformed],
  ['a line in lower case', line('vote: QJ'), malformed],
  ['a line with a full stop', line('VOTE: QJ.'), invalid],
  ['a line with two labels', line('VOTE: QJ ZR'), invalid],
  ['a line without a label', line('VOTE:'), malformed],
  ['no line', line(''), malformed],
  ['another tool', tool(toolCall('search', { choice: 'QJ' })), malformed],
  ['no tool call', tool(), malformed],
  ['two tool calls', tool(toolCall('vote', { choice: 'QJ' }), toolCall('vote', { choice: 'ZR' })), malformed],
  [
    'two tool calls that agree',
    tool(toolCall('vote', { choice: 'QJ' }), toolCall('vote', { choice: 'QJ' })),
    malformed,
  ],
  [
    'tool arguments that are no JSON',
    tool({ id: 'x', type: 'function', function: { name: 'vote', arguments: '{choice: QJ}' } }),
    malformed,
  ],
  [
    'tool arguments as an object',
    tool({ id: 'x', type: 'function', function: { name: 'vote', arguments: { choice: 'QJ' } } }),
    malformed,
  ],
  ['a tool call with a label outside', tool(toolCall('vote', { choice: 'AB' })), invalid],
  [
    'content where a tool was asked',
    readAnswer(model('tool'), completion({ content: '{"choice":"QJ"}' }), LABELS),
    malformed,
  ],
];

for (const [name, reading, expected] of garbage) t.test(`no vote: ${name}`, async (t) => t.match(reading, expected));

t.test('refusals, filters and errors inside a reply are told apart', async (t) => {
  const read = (reply: unknown) => readAnswer(model('json_schema'), reply, LABELS);
  t.match(read(completion({ refusal: 'I cannot help with that.' })), { error: 'refusal', repair: false });
  t.match(read(withFinish('content_filter', '{"choice":"QJ"}')), { error: 'refusal', repair: false });
  for (const finish_reason of ['content_filter', 'content_filter: PROHIBITED_CONTENT'])
    t.match(read({ choices: [{ index: 0, finish_reason }] }), { error: 'refusal', repair: false }, 'without a message');
  t.match(read({ choices: [{ finish_reason: 'content_filter', error: { code: 502 } }] }), { error: 'provider_error' });
  t.match(read(withFinish('error', '{"choice":"QJ"}')), { error: 'provider_error', repair: false });
  t.match(
    read(withFinish('length', '{"rationale":"and so')),
    { error: 'malformed', repair: false },
    'no repair where the tokens ran out',
  );
  t.match(read(withFinish('stop', 'prose')), { error: 'malformed', repair: true });
  for (const reply of [
    null,
    'x',
    7,
    [],
    {},
    { choices: [] },
    { choices: [null] },
    { choices: [{}] },
    { choices: {} },
    { choices: [{ message: 'x' }] },
  ])
    t.match(read(reply), { error: 'provider_error', repair: false });
});

t.test('whatever comes back, only an exact label is a vote and nothing throws', async (t) => {
  const content = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(...LABELS),
    fc.constantFrom(...LABELS).map((label) => JSON.stringify({ choice: label })),
  );
  const message = fc.oneof(
    fc.record(
      { content, refusal: fc.option(fc.string()), tool_calls: fc.option(fc.array(fc.anything())) },
      { requiredKeys: [] },
    ),
    fc.anything(),
  );
  const reply = fc.oneof(
    fc.record({ choices: fc.array(fc.record({ message, finish_reason: fc.string() }, { requiredKeys: [] })) }),
    fc.anything(),
  );
  fc.assert(
    fc.property(reply, fc.constantFrom<Model['answer']>('json_schema', 'tool', 'line'), (reply, answer) => {
      const reading = readAnswer(model(answer), reply, LABELS);
      if ('vote' in reading && !JSON.stringify(reply).includes(LABELS[reading.vote]!))
        throw new Error('a vote out of nothing');
      readUsage(reply);
      readProviderCost(reply);
    }),
    { numRuns: 3000 },
  );
  t.pass('no reply throws, and no vote is made up');
});

t.test('usage counts only when it is sound', async (t) => {
  t.same(readUsage({ usage: { prompt_tokens: 3, completion_tokens: 0 } }), { inputTokens: 3, outputTokens: 0 });
  for (const usage of [
    undefined,
    null,
    {},
    { prompt_tokens: 3 },
    { prompt_tokens: -1, completion_tokens: 1 },
    { prompt_tokens: 1.5, completion_tokens: 1 },
    { prompt_tokens: '3', completion_tokens: 1 },
    { prompt_tokens: 1e300, completion_tokens: 1 },
  ])
    t.equal(readUsage({ usage }), null);
});

t.test("a provider's own cost is whole micro-USD", async (t) => {
  t.equal(readProviderCost({ usage: { cost: 0.00123 } }), 1230);
  t.equal(readProviderCost({ usage: { cost: 0 } }), 0);
  for (const cost of [undefined, null, -1, Number.NaN, Number.POSITIVE_INFINITY, '0.1', 1e9])
    t.equal(readProviderCost({ usage: { cost } }), null);
});

function withFinish(finish_reason: string, content: string): Record<string, unknown> {
  return { choices: [{ index: 0, finish_reason, message: { role: 'assistant', content } }] };
}

t.test('no regular expression runs over an answer: 200,000 line feeds kept the event loop for 16 s', async (t) => {
  for (const text of [`\`\`\`${'\n'.repeat(200_000)}x`, `{"choice"${' '.repeat(200_000)}`, '"choice"'.repeat(25_000)])
    t.match(json(text), malformed, `${text.length} characters`);
  const source = readFileSync(new URL('../src/read-answer.ts', import.meta.url), 'utf8');
  t.notMatch(source, /RegExp|\.(match|matchAll|exec|test|replace|replaceAll|search|split)\(/);
});

t.test('an answer longer than its tokens can be is malformed and not asked for again', async (t) => {
  const content = `{"choice":"QJ","rationale":"${'a'.repeat(64 * 10)}"}`;
  const short = readAnswer({ answer: 'json_schema', maxOutputTokens: 10 }, completion({ content }), LABELS);
  t.same(short, { error: 'malformed', repair: false });
});
