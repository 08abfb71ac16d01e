import { Parser } from '@asyncapi/parser';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { createParser } from 'eventsource-parser';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { lint } from '../fixtures/lint.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

const WARNING = 1;

const { app, context, keyWith } = await build(t);
const answer = await app.inject({ url: '/asyncapi.json' });
const document = answer.json();

/** What a local reference leads to; throws where it leads nowhere. */
function follow({ $ref }: { $ref: string }): Record<string, unknown> {
  const [root, ...steps] = $ref.split('/');
  if (root !== '#') throw new Error(`${$ref} is not local`);
  return steps.reduce((value, step) => {
    if (value[step] === undefined) throw new Error(`${$ref} leads nowhere`);
    return value[step];
  }, document);
}

t.test('[§4.7-asyncapi] the document is valid AsyncAPI 3.0 and describes the stream', async (t) => {
  t.equal(answer.statusCode, 200);
  t.same(await lint(t, answer.body), []);
  const { document: parsed, diagnostics } = await new Parser().parse(answer.body);
  t.same(
    diagnostics.filter(({ severity }) => severity <= WARNING),
    [],
  );
  t.equal(parsed?.channels().length, 2);
  t.match(document, {
    asyncapi: '3.0.0',
    servers: { here: { host: 'polls.example', protocol: 'https' } },
    channels: { stream: { address: '/api/poll/stream' } },
    operations: {
      orderPoll: { action: 'receive' },
      publishProgress: { action: 'send' },
      sendWebhook: { action: 'send' },
    },
  });
  const references: { $ref: string }[] = [];
  JSON.stringify(document, (_name, value) => {
    if (value?.$ref !== undefined) references.push(value);
    return value;
  });
  for (const reference of references) t.ok(follow(reference), reference.$ref);
  const sent = document.operations.publishProgress.messages.map(follow).map(follow);
  t.same(
    sent.map(({ name }: { name: string }) => name),
    ['started', 'complete', 'error'],
  );
  const { webhooks } = (await app.inject({ url: '/api/openapi.json' })).json();
  const delivered = document.operations.sendWebhook.messages.map(follow).map(follow);
  t.same(
    delivered.map(({ name, payload }: { name: string; payload: object }) => [name, payload]),
    Object.entries<{ post: { requestBody: { content: Record<string, { schema: object }> } } }>(webhooks).map(
      ([name, { post }]) => [name, post.requestBody.content['application/json']!.schema],
    ),
    'webhooks are those of the OpenAPI document',
  );
  for (const operation of Object.values<{ bindings: unknown }>(document.operations))
    t.same(operation.bindings, { http: { method: 'POST', bindingVersion: '0.3.0' } });
});

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
formats.default(ajv);
const checks = new Map(
  Object.entries<{ payload: object }>(document.components.messages).map(([name, { payload }]) => [
    name,
    ajv.compile(payload),
  ]),
);

t.test('what a real stream sends is what the document says', async (t) => {
  await standInWorker(t, context, { opinion: (seat) => (seat === 0 ? null : 1) });
  const { bearer } = await keyWith(1);
  const order = { question: 'Which of these is best?', options: ['A', 'B'], preset: 'fast' };
  t.ok(checks.get('order')?.(order));
  t.notOk(checks.get('order')?.({ ...order, options: ['A'] }));
  const stream = await app.inject({ method: 'POST', url: '/api/poll/stream', headers: bearer, payload: order });
  const events: { event: string | undefined; data: string }[] = [];
  createParser({ onEvent: (event) => void events.push({ event: event.event, data: event.data }) }).feed(stream.body);
  t.ok(events.length >= 2);
  t.equal(events.at(-1)?.event, 'complete');
  for (const { event = '', data } of events) {
    const check = checks.get(event);
    t.ok(check?.(JSON.parse(data)), `${event}: ${ajv.errorsText(check?.errors)}`);
    t.notOk(check?.({ ...JSON.parse(data), seq: 'first' }), 'and the shape is a strict one');
  }
});
