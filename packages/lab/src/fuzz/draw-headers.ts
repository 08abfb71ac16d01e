import fc, { type Arbitrary } from 'fast-check';
import { mostly } from './mostly.ts';
import type { FuzzedOperation } from './operations.ts';

// Headers of requests to one operation, besides those of its credential.

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
export function fuzzedHeadersOf({ parameters, path }: FuzzedOperation): Arbitrary<Record<string, string>> {
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
