import { ERRORS, ErrorBody, type ErrorCode, Problem } from '@eloquentpoll/contracts';
import { type TSchema, Type } from '@sinclair/typebox';

// What an operation can answer, as its schema says it: the good answers one by one, the errors by their codes.

interface Answer {
  description: string;
  content: Record<string, { schema: TSchema }>;
}

export const json = (description: string, shape: TSchema): Answer => ({
  description,
  content: { 'application/json': { schema: shape.$id === undefined ? shape : Type.Ref(shape) } },
});

export const text = (description: string, mediaType: string): Answer => ({
  description,
  content: { [mediaType]: { schema: Type.String() } },
});

/** What reading a JSON body can end in. */
export const READS_BODY = [
  'validation_error',
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
] as const satisfies ErrorCode[];

/** What asking for a bearer key can end in. */
export const NEEDS_KEY = ['authentication_required', 'invalid_api_key'] as const satisfies ErrorCode[];

/** What any operation can end in: bad syntax, too many requests, a bug, a store that is away. */
const ALWAYS = ['bad_request', 'rate_limited', 'internal_error', 'service_unavailable'] as const satisfies ErrorCode[];

/** One answer per status, whose description lists the codes that come with it. */
export function errors(...codes: readonly ErrorCode[]): Record<number, Answer> {
  const byStatus = Map.groupBy(new Set([...codes, ...ALWAYS]), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, { description: described(group), content: errorContent }]),
  );
}

const errorContent = {
  'application/json': { schema: Type.Ref(ErrorBody) },
  'application/problem+json': { schema: Type.Ref(Problem) },
};

const described = (codes: readonly ErrorCode[]): string =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].description}`).join('\n\n');
