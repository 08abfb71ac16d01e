import fc, { type Arbitrary } from 'fast-check';
import { chatBodies } from './chat-bodies.ts';
import { corruptedBytes, corruptedJson, hostileText } from './corrupting.ts';
import { goodValues } from './good-values.ts';
import { mostly } from './mostly.ts';
import type { Description, FuzzedOperation } from './operations.ts';
import { a2aBodies, type ListedTool, mcpBodies } from './rpc-bodies.ts';

// Bodies of requests to one operation, right and wrong ones.

export interface ServedDescription {
  readonly description: Description;
  readonly tools: readonly ListedTool[];
}

interface Body {
  type: string;
  bytes: Buffer;
}

export function bodiesOf(operation: FuzzedOperation, around: ServedDescription): Arbitrary<Body | null> {
  const types = Object.keys(operation.bodies);
  if (types.length === 0 && operation.method !== 'POST') {
    return mostly(20, fc.constant(null), fc.constant({ type: 'application/json', bytes: Buffer.from('{"a":1}') }));
  }
  const good = goodBodies(operation, around);
  const goodJson = good.map((value) => JSON.stringify(value) ?? '');
  const bytes = fc.oneof(
    { weight: 8, arbitrary: goodJson.map((json) => Buffer.from(json)) },
    { weight: 8, arbitrary: corruptedJson(good).map((json) => Buffer.from(json)) },
    { weight: 3, arbitrary: corruptedBytes(goodJson) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)) },
  );
  const type = fc.constantFrom(...(types.length === 0 ? ['application/json'] : types));
  const json: Arbitrary<Body> = fc.record({ type, bytes });
  return mostly(30, types.length === 0 ? fc.oneof(json, forms) : json, fc.constant(null));
}

/** Form bodies as pages send them; only operations without a declared body accept them. */
const forms: Arbitrary<Body> = fc
  .array(
    fc.tuple(
      fc.constantFrom('question', 'option', 'outcome', 'x', '', '__proto__'),
      mostly(2, fc.constantFrom('Which of these is best?', 'A', 'B', 'correct'), hostileText),
    ),
    { maxLength: 8 },
  )
  .map((pairs) => ({
    type: 'application/x-www-form-urlencoded',
    bytes: Buffer.from(pairs.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&')),
  }));

export function goodBodies(
  { path, bodies }: FuzzedOperation,
  { description, tools }: ServedDescription,
): Arbitrary<unknown> {
  const order = goodValues({ $ref: '#/components/schemas/SessionRequest' }, description);
  if (path === '/api/mcp') return mcpBodies(tools, description);
  if (path === '/api/a2a/tasks/send') return a2aBodies(order);
  if (path === '/v1/chat/completions') return chatBodies(order);
  const [schema] = Object.values(bodies);
  return schema
    ? goodValues(schema, description)
    : fc.constantFrom<unknown>({ id: 'evt_1', object: 'event', type: 'charge.refunded', data: { object: {} } }, {});
}
