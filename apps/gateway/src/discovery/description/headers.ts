import { type DescribedAnswer, nameIn, type OpenApiDocument, type OperationEntry, operationsIn } from './shapes.ts';

// The headers that clients read or send, each described once.

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });
const count = (description: string, example: number) => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

const HEADERS = {
  'RateLimit-Limit': count('The limit of the rate-limit window with the fewest calls left.', 1_000),
  'RateLimit-Remaining': count('Calls left in this window.', 998),
  'RateLimit-Reset': count('Seconds until this window starts again.', 42),
  'RateLimit-Policy': text('All rate-limit windows of the operation, as `limit;w=seconds`.', '60;w=3600, 300;w=86400'),
  'Retry-After': count('Seconds after which the same request can succeed.', 5),
  'X-Request-Id': text('Identifies the request; include it when you report a problem.', 'req_0123456789abcdef01234567'),
  'Idempotency-Key': text('The Idempotency-Key of the request.', '"8e03978e-40d5-43e8-bc93-6894a57f9324"'),
  'Idempotent-Replayed': text(
    '`true`: this is the result of an earlier request with the same key, or, for chat completions, of an equal request whose response was an error.',
    'true',
  ),
  ETag: text('Send it as `If-None-Match` with the next request.', '"3f2b8c"'),
  'WWW-Authenticate': text('How to authenticate, and where the metadata of the authorization server is.', 'Bearer'),
} as const;

const PARAMETERS = {
  MachineClient: {
    name: 'X-Machine-Client',
    in: 'header',
    description: '`true`: errors are Problem Details (RFC 9457), as with `Accept: application/problem+json`.',
    schema: { type: 'string', enum: ['true'] },
  },
};

type HeaderName = keyof typeof HEADERS;

const BUDGET: readonly HeaderName[] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'];
const WAITS = new Set(['408', '409', '429', '503']);

/** The headers of error answers, for any operation. */
export const errorHeaders = (status: string): Record<string, object> =>
  referred([
    ...BUDGET,
    'X-Request-Id',
    ...(WAITS.has(status) ? (['Retry-After'] as const) : []),
    ...(status === '401' ? (['WWW-Authenticate'] as const) : []),
  ]);

export function declareHeaders(document: OpenApiDocument): void {
  document.components.headers = HEADERS;
  document.components.parameters = PARAMETERS;
  for (const [, , operation] of operationsIn(document)) {
    const statuses = Object.keys(operation.responses);
    const takesKey = operation.parameters?.some(({ name }) => name === 'idempotency-key');
    for (const [status, answer] of Object.entries(operation.responses)) {
      if (status >= '300' || '$ref' in answer) continue;
      addHeaders(answer, [
        ...BUDGET,
        ...(takesKey ? (['Idempotency-Key', 'Idempotent-Replayed'] as const) : []),
        ...(statuses.includes('304') ? (['ETag'] as const) : []),
      ]);
    }
    if (answersProblems(document, operation)) {
      operation.parameters = [
        ...(operation.parameters ?? []),
        { $ref: '#/components/parameters/MachineClient' } as never,
      ];
    }
  }
}

const answersProblems = ({ components }: OpenApiDocument, { responses }: OperationEntry): boolean =>
  Object.values(responses).some((answer) => {
    const { content = {} } = '$ref' in answer ? (components.responses?.[nameIn(answer)] ?? {}) : answer;
    return 'application/problem+json' in content;
  });

function addHeaders(answer: DescribedAnswer, names: readonly HeaderName[]): void {
  answer.headers = { ...answer.headers, ...referred(names) };
}

const referred = (names: readonly HeaderName[]): Record<string, object> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
