import { ERRORS, ErrorBody, type ErrorCode, Problem } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';

// What an operation can answer, for its schema: the good answer by hand, the errors by their codes in the catalogue.

const errorContent = {
  'application/json': { schema: Type.Ref(ErrorBody) },
  'application/problem+json': { schema: Type.Ref(Problem) },
};

interface ErrorAnswer {
  description: string;
  content: typeof errorContent;
}

/** Errors that every operation can give, whatever it does. */
const ALWAYS = ['rate_limited', 'internal_error', 'service_unavailable'] as const;

/** One response per status, whose description lists the codes that come with it. */
export function errorAnswers(...codes: readonly ErrorCode[]): Record<number, ErrorAnswer> {
  const byStatus = Map.groupBy(new Set([...codes, ...ALWAYS]), (code) => ERRORS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, { description: described(group), content: errorContent }]),
  );
}

const described = (codes: readonly ErrorCode[]): string =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].description}`).join('\n\n');
