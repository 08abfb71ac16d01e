import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import t from 'tap';
import { readPollOrder } from '../../src/polls/order/poll-order.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const { app, context, keyWith } = await build(t);
const answer = await app.inject({ url: '/api/graph/node-spec' });
const spec = answer.json();
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);
const input = ajv.compile(spec.json_schema.input);
const output = ajv.compile(spec.json_schema.output);

t.test('[§4.2-node-spec-200] three forms of one description', async (t) => {
  t.equal(answer.statusCode, 200);
  t.match(spec, {
    name: 'consensus_poll',
    version: '2.0.0',
    json_schema: { $schema: 'https://json-schema.org/draft/2020-12/schema' },
  });
  const { inputSchema, outputSchema } = spec.tool_spec.mcp;
  // As the body of POST /api/poll, where the key is a header.
  const { idempotency_key: key, ...properties } = inputSchema.properties;
  t.ok(key);
  const body = { ...inputSchema, properties };
  t.same(spec.tool_spec.openai.function.parameters, body);
  t.same(spec.tool_spec.anthropic.input_schema, body);
  t.same(spec.json_schema.input, body);
  t.same(spec.json_schema.output, outputSchema);
  t.notMatch(JSON.stringify([spec.json_schema, spec.tool_spec]), /"\$ref"/, 'each schema stands alone');
  for (const { name } of spec.ports.inputs) t.ok(inputSchema.properties[name], name);
  for (const { name } of spec.ports.outputs) t.ok(outputSchema.properties[name], name);
  const again = await app.inject({
    url: '/api/graph/node-spec',
    headers: { 'if-none-match': String(answer.headers.etag) },
  });
  t.equal(again.statusCode, 304);
});

t.test('the OpenAPI reference leads to the operation', async (t) => {
  const { url, operationId, $ref } = spec.openapi;
  t.equal(url, 'https://polls.example/api/openapi.json');
  const [document, pointer] = $ref.split('#');
  t.equal(document, url);
  const operation = pointer
    .split('/')
    .slice(1)
    .map((step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (value: Record<string, unknown>, step: string) => value[step],
      (await app.inject({ url: new URL(url).pathname })).json(),
    );
  t.equal(operation?.operationId, operationId);
});

t.test('what goes in and comes out of a real poll is what the schemas say', async (t) => {
  await standInWorker(t, context, { opinion: (seat) => [0, 1, null][seat] ?? 0 });
  const { bearer } = await keyWith(1);
  const good = { question: 'Which of these is best?', options: ['A', 'B'], preset: 'fast', profile: 'quick' };
  t.ok(input(good), ajv.errorsText(input.errors));
  const answer = await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload: good });
  t.equal(answer.statusCode, 200);
  t.ok(output(answer.json()), ajv.errorsText(output.errors));
  t.notOk(output({ ...answer.json(), votes: [{}] }), 'the shape of a vote is part of it');
  for (const wrong of [{}, { ...good, question: undefined }, { ...good, options: ['A'] }, { ...good, preset: 'free' }])
    t.notOk(input(JSON.parse(JSON.stringify(wrong))));
});

t.test('who fills in every default of the schemas orders the same poll', (t) => {
  for (const { properties } of [spec.json_schema.input, spec.tool_spec.mcp.inputSchema] as {
    properties: Record<string, object>;
  }[]) {
    const defaults = Object.fromEntries(
      Object.entries(properties).flatMap(([name, member]) => ('default' in member ? [[name, member.default]] : [])),
    );
    for (const named of [
      { profile: 'quick' },
      { profile: 'conservative' },
      { models: ['one', 'two', 'three'] },
      { panel: 'mine' },
      {},
    ]) {
      const asked = { question: 'Which of these is the best choice?', options: ['A', 'B'], ...named };
      t.same(readPollOrder({ ...defaults, ...asked }), readPollOrder(asked), JSON.stringify(named));
    }
  }
  t.end();
});
