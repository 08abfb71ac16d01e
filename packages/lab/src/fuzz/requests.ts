import fc, { type Arbitrary } from 'fast-check';
import { chatBodies } from './chat-bodies.ts';
import { corruptedBytes, corruptedJson, hostileText } from './corrupting.ts';
import { goodValues } from './good-values.ts';
import type { Description, FuzzedOperation, Parameter } from './operations.ts';
import { a2aBodies, type ListedTool, mcpBodies } from './rpc-bodies.ts';

// A request to one operation: sometimes correct, mostly wrong in one part, sometimes in all. It consists of plain
// values, so that a failure shrinks to what matters and can be printed.

export const CREDENTIALS = [
  'none',
  'key',
  'key of another',
  'key without money',
  'revoked key',
  'unknown key',
  'garbage',
  'user id',
  'two keys',
  'basic',
  'cookie',
  'cookie without origin',
  'cookie from elsewhere',
  'forged cookie',
  'cookie and key',
  'cookie and garbage',
] as const;
export type Credential = (typeof CREDENTIALS)[number];

export interface FuzzRequest {
  readonly method: string;
  /** Encoded, including the query; `{{...}}` stands for values that only the running service knows. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly credential: Credential;
  readonly body: Buffer | null;
}

export interface ServedDescription {
  readonly description: Description;
  readonly tools: readonly ListedTool[];
}

export function requestsTo(operation: FuzzedOperation, around: ServedDescription): Arbitrary<FuzzRequest> {
  return fc
    .record({
      method: methodsOf(operation),
      path: pathsOf(operation),
      query: queriesOf(operation, around.description),
      headers: headersOf(operation),
      credential: credentialsOf(operation),
      body: bodiesOf(operation, around),
    })
    .map(({ path, query, body, headers, ...rest }) => ({
      ...rest,
      target: path + query,
      headers: body === null ? headers : { 'content-type': body.type, ...headers },
      body: body?.bytes ?? null,
    }));
}

const mostly = <T>(weight: number, usual: Arbitrary<T>, other: Arbitrary<T>): Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });

const methodsOf = ({ method }: FuzzedOperation): Arbitrary<string> =>
  mostly(
    30,
    fc.constant(method),
    method === 'GET' ? fc.constantFrom('HEAD', 'OPTIONS', 'POST') : fc.constantFrom('OPTIONS', 'PUT', 'GET'),
  );

/** Various escapes that could mislead a router. */
const hostileStep = fc.oneof(
  hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3_000)),
  fc.constantFrom(
    '..',
    '%2e%2e',
    '%2e%2e%2f',
    '%00',
    '%zz',
    '%',
    '%c0%ae',
    '%E0%80',
    '%ff',
    '%2F',
    '%5c..',
    '.',
    '%20',
    ';a=b',
    '~',
    '%7E',
  ),
);

const KNOWN_STEPS: Readonly<Record<string, readonly string[]>> = {
  id: [
    '{{session}}',
    '{{failed-session}}',
    '{{running-session}}',
    '{{foreign-session}}',
    '{{result}}',
    'ps_aaaaaaaaaaaaaaaaaaaaaaaa',
  ],
  resultId: ['{{result}}', '{{foreign-result}}', '{{failed-result}}', '{{session}}'],
  pollId: ['{{result}}', '{{foreign-result}}', '{{failed-result}}'],
  keyId: ['{{key-id}}', '{{foreign-key-id}}', '00000000-0000-4000-8000-000000000000'],
  batchId: ['{{batch}}', '{{batch}}', '{{foreign-batch}}', 'pb_aaaaaaaaaaaaaaaaaaaaaaaa'],
  endpointId: [
    '{{endpoint}}',
    '{{endpoint}}',
    '{{foreign-endpoint}}',
    'account',
    'we_00000000000000000000000000000000',
  ],
  deliveryId: ['{{delivery}}', '{{delivery}}', '{{foreign-delivery}}', 'wd_1'],
  code: ['rate_limited', 'not_found', 'other'],
};

function pathsOf({ path, parameters }: FuzzedOperation): Arbitrary<string> {
  const steps = parameters.filter((parameter) => parameter.in === 'path');
  if (steps.length === 0)
    return mostly(
      40,
      fc.constant(path),
      fc.constantFrom(`${path}/`, `/${path}`, path.toUpperCase(), `${path}%20`, `${path};x=1`),
    );
  return fc
    .tuple(...steps.map((parameter) => mostly(2, fc.constantFrom(...knownSteps(parameter)), hostileStep)))
    .map((chosen) => steps.reduce((made, { name }, i) => made.replace(`{${name}}`, () => chosen[i]!), path));
}

const knownSteps = ({ name, examples }: Parameter): readonly string[] =>
  KNOWN_STEPS[name] ??
  Object.values(examples ?? {})
    .map(({ value }) => String(value))
    .concat('x');

function queriesOf({ parameters }: FuzzedOperation, description: Description): Arbitrary<string> {
  const named = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = named.map(({ name, schema, required }) => {
    const good = goodValues(schema, description, name === 'options' ? '' : name).map(String);
    const value = mostly(3, good, hostileText).map(
      (text) =>
        `${name}=${encodeURIComponent(text.toWellFormed())
          .slice(0, 4_000)
          .replace(/%7B%7B(.*?)%7D%7D/g, '{{$1}}')}`,
    );
    return mostly(required ? 9 : 1, value, fc.constant(''));
  });
  const odd = fc.constantFrom(
    '',
    '',
    '',
    '',
    'x=1',
    '%00=1',
    'a=%zz',
    '__proto__[x]=1',
    'a&a&a',
    '=',
    '%ff=%ff',
    'limit=1&limit=2',
    `${'a=1&'.repeat(2_000)}`,
  );
  return fc.tuple(odd, ...pairs).map((parts) => {
    const query = parts.filter((part) => part !== '').join('&');
    return query === '' ? '' : `?${query}`;
  });
}

/** Bytes that a client library accepts in a header, so no line ends. */
const headerText = mostly(
  3,
  fc.string({ maxLength: 60 }).map((text) => text.replace(/[^\x20-\x7e]/g, '.')),
  fc.uint8Array({ maxLength: 30 }).map((bytes) =>
    Buffer.from(bytes)
      .toString('latin1')
      .replace(/\p{Cc}/gu, ''),
  ),
);

const HEADERS: Readonly<Record<string, Arbitrary<string>>> = {
  accept: fc.oneof(
    fc.constantFrom(
      '*/*',
      'application/json',
      'application/problem+json',
      'text/event-stream',
      'text/html',
      'text/markdown',
    ),
    fc.constantFrom(
      'application/json, text/event-stream',
      'text/plain;q=0',
      'application/problem+json;q=0',
      ',,;',
      '*',
    ),
    headerText,
  ),
  'x-machine-client': fc.constantFrom('true', 'TRUE', 'false', '1'),
  'idempotency-key': fc.oneof(
    fc.uuid(),
    fc.constantFrom('the-same', '"the-same"', '""', ' ', 'x'.repeat(256), '"a', 'a b'),
    headerText,
  ),
  prefer: fc.constantFrom('wait=0', 'wait=1', 'wait', 'wait=x', 'wait="0"', 'respond-async, wait=0', '"', 'wait=-1'),
  'if-none-match': fc.oneof(fc.constantFrom('*', '""', 'W/"1"', '"x", "y"', '"'), headerText),
  'last-event-id': fc.oneof(
    fc.constantFrom('{{session}}.1', '{{session}}', '{{foreign-session}}.0', '0', '-1', 'a.b.c'),
    headerText,
  ),
  origin: fc.constantFrom('https://elsewhere.example', 'null', '{{base}}', 'http://localhost', ''),
  'content-type': fc.oneof(
    fc.constantFrom(
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/xml',
      '',
    ),
    fc.constantFrom(
      'application/json; charset=utf-16',
      'APPLICATION/JSON',
      'application/json;',
      'application/a2a+json',
      'application/json, text/plain',
    ),
    headerText,
  ),
  'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'x'),
  'mcp-protocol-version': fc.constantFrom('2025-11-25', '2026-07-28', '2025-03-26', '1999-01-01', 'x'),
  'mcp-session-id': headerText,
  'mcp-method': fc.constantFrom('tools/call', 'ping', 'x'),
  'mcp-name': fc.constantFrom('poll_question', 'get_balance', 'x'),
  'a2a-version': fc.constantFrom('1.0', '0.3', '9.9', ''),
  'x-payment': fc.oneof(
    fc.constantFrom('{{payment}}', '{{payment-v2}}', 'e30=', 'bnVsbA==', 'W10=', '{}', 'x'.repeat(9_000)),
    fc.base64String({ maxLength: 200 }),
    headerText,
  ),
  'payment-signature': fc.oneof(fc.constantFrom('{{payment-v2}}', 'e30='), headerText),
  'stripe-signature': fc.oneof(
    fc.constantFrom('{{signed}}', '{{signed}}', '{{signed}}', 't=1,v1=00', 't=,v1=', 'v1=x'),
    headerText,
  ),
  'x-forwarded-for': fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('a', '127.0.0.1, 10.0.0.1')),
  'x-forwarded-host': fc.constantFrom('evil.example'),
  'x-http-method-override': fc.constantFrom('DELETE', 'GET'),
  'x-request-id': headerText,
  traceparent: fc.constantFrom('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '00-0-0-0'),
  range: fc.constantFrom('bytes=0-1', 'bytes=9-1'),
  cookie: fc.oneof(
    fc.constantFrom('ep_session=', 'ep_session=a; ep_session=b', 'ep_login=x', '=', ';;;', 'a="'),
    headerText,
  ),
  'accept-encoding': fc.constantFrom('gzip', 'br;q=0', 'x'),
  'sec-fetch-dest': fc.constantFrom('document', 'image', 'empty'),
  'sec-fetch-site': fc.constantFrom('same-origin', 'cross-site'),
};

/** Headers declared by the operation are frequent, others rare. */
function headersOf({ parameters, path }: FuzzedOperation): Arbitrary<Record<string, string>> {
  const described = new Set(parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name));
  const own = Object.keys(HEADERS).filter(
    (name) => described.has(name) || (name === 'stripe-signature' && path.includes('stripe')),
  );
  const chosen = (names: readonly string[], most: number) =>
    fc.uniqueArray(fc.oneof(...names.map((name) => HEADERS[name]!.map((value) => [name, value] as const))), {
      maxLength: most,
      selector: ([name]) => name,
    });
  const none: Arbitrary<(readonly [string, string])[]> = fc.constant([]);
  const others = mostly(2, none, chosen(Object.keys(HEADERS), 4));
  // Without it, MCP does not read the message at all.
  const base = path === '/api/mcp' ? { accept: 'application/json, text/event-stream' } : {};
  return fc
    .tuple(own.length === 0 ? none : mostly(1, none, chosen(own, 2)), others)
    .map((pairs) => ({ ...base, ...Object.fromEntries(pairs.flat()) }));
}

const credentialsOf = ({ ways }: FuzzedOperation): Arbitrary<Credential> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Credential>(...ways) },
    { weight: 1, arbitrary: fc.constantFrom(...CREDENTIALS) },
  );

interface Body {
  type: string;
  bytes: Buffer;
}

function bodiesOf(operation: FuzzedOperation, around: ServedDescription): Arbitrary<Body | null> {
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
