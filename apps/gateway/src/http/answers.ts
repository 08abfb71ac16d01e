import { ERRORS, ErrorBody, type ErrorCode, Problem } from '@eloquentpoll/contracts';
import { type TSchema, Type } from '@sinclair/typebox';

// The answers in an operation's schema: each success on its own, errors by their codes.

export interface AnswerSchema {
  description: string;
  content: Record<string, { schema: TSchema }>;
  /** The schema shown in the API document, when the answer also has other forms. */
  documented?: TSchema;
  /** The error codes that have this status. */
  codes?: readonly ErrorCode[];
}

export const jsonAnswer = (description: string, shape: TSchema, mediaType = 'application/json'): AnswerSchema => ({
  description,
  content: { [mediaType]: { schema: shape.$id === undefined ? shape : Type.Ref(shape) } },
});

export const textAnswer = (description: string, mediaType: string): AnswerSchema => ({
  description,
  content: { [mediaType]: { schema: Type.String() } },
});

/** For operations whose callers may already have the answer; see send-tagged.ts. */
export const NOT_MODIFIED = {
  304: { description: 'The version in If-None-Match is still current.', type: 'null' },
} as const;

/** Errors of reading a JSON body. */
export const READS_BODY = [
  'validation_error',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[];

/** Errors of a missing or wrong bearer. */
export const NEEDS_KEY = [
  'authentication_required',
  'invalid_api_key',
  'insufficient_scope',
] as const satisfies ErrorCode[];

/** Errors of any operation: bad syntax, malformed text, too many requests, a bug, a store that is away. */
const ALWAYS = [
  'bad_request',
  'validation_error',
  'rate_limited',
  'internal_error',
  'service_unavailable',
] as const satisfies ErrorCode[];

/** An operation with one of these errors has callers with accounts, and these may be frozen or moving. */
const FOR_ACCOUNTS: ReadonlySet<ErrorCode> = new Set([
  'authentication_required',
  'invalid_api_key',
  'invalid_wallet_signature',
]);

/** An operation with one of these errors reads by id, and the account that owns the id may be moving. */
const OF_ACCOUNTS: ReadonlySet<ErrorCode> = new Set(['result_not_found', 'poll_not_found', 'invalid_wallet_address']);

const added = (codes: readonly ErrorCode[]): ErrorCode[] => [
  ...(codes.some((code) => FOR_ACCOUNTS.has(code)) ? (['account_frozen'] as const) : []),
  ...(codes.some((code) => FOR_ACCOUNTS.has(code) || OF_ACCOUNTS.has(code)) ? (['account_moving'] as const) : []),
  // Only operations that write read a body, and only keys can be read-only or have a limit.
  ...(codes.includes('invalid_api_key') && codes.includes('payload_too_large') ? (['read_only_key'] as const) : []),
  ...(codes.includes('invalid_api_key') && codes.includes('insufficient_balance')
    ? (['key_budget_reached'] as const)
    : []),
];

/** One answer per status; its description lists the codes with that status. */
export function errors(...codes: readonly ErrorCode[]): Record<number, AnswerSchema> {
  const byStatus = Map.groupBy(new Set([...codes, ...added(codes), ...ALWAYS]), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [status, { description: described(codes), content: errorContent, codes }]),
  );
}

const errorContent = {
  'application/json': { schema: Type.Ref(ErrorBody) },
  'application/problem+json': { schema: Type.Ref(Problem) },
};

/** The same errors for an operation that can also show them as a page. */
export const orPage = (answers: Record<number, AnswerSchema>): Record<number, AnswerSchema> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { ...answer, content: { ...answer.content, ...textAnswer('', 'text/html').content } },
    ]),
  );

const described = (codes: readonly ErrorCode[]): string => codes.map((code) => `\`${code}\``).join(', ');

/** Redirects a browser. */
export const redirect = (description: string) =>
  ({ description, type: 'null', headers: { location: { type: 'string', format: 'uri' } } }) as const;

/** The same errors, with another body for those of one status. */
export function withContent(
  answers: Record<number, AnswerSchema>,
  status: number,
  shapes: { json: TSchema; problem: TSchema },
): Record<number, AnswerSchema> {
  const content = {
    'application/json': { schema: Type.Ref(shapes.json) },
    'application/problem+json': { schema: Type.Ref(shapes.problem) },
  };
  return { ...answers, [status]: { ...answers[status]!, content } };
}
