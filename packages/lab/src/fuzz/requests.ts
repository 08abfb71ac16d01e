import fc, { type Arbitrary } from 'fast-check';
import { bodiesOf, type ServedDescription } from './draw-body.ts';
import { fuzzedHeadersOf } from './draw-headers.ts';
import { pathsOf, queriesOf } from './draw-target.ts';
import { mostly } from './mostly.ts';
import type { FuzzedOperation } from './operations.ts';

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

export function requestsTo(operation: FuzzedOperation, around: ServedDescription): Arbitrary<FuzzRequest> {
  return fc
    .record({
      method: methodsOf(operation),
      path: pathsOf(operation),
      query: queriesOf(operation, around.description),
      headers: fuzzedHeadersOf(operation),
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

const methodsOf = ({ method }: FuzzedOperation): Arbitrary<string> =>
  mostly(
    30,
    fc.constant(method),
    method === 'GET' ? fc.constantFrom('HEAD', 'OPTIONS', 'POST') : fc.constantFrom('OPTIONS', 'PUT', 'GET'),
  );

const credentialsOf = ({ ways }: FuzzedOperation): Arbitrary<Credential> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Credential>(...ways) },
    { weight: 1, arbitrary: fc.constantFrom(...CREDENTIALS) },
  );
