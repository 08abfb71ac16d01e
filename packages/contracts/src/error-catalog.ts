import { type Static, Type } from '@sinclair/typebox';
import { Recovery, recoveryOf } from './error-body.ts';
import { ERROR_CODES, ERRORS, type ErrorCode, RECOVERY_ACTIONS } from './errors.ts';
import { Count, literals } from './vocabulary.ts';

// The list of errors as a client may read it: what each code means, what to do about it, and who can answer it.

export const ErrorEntry = Type.Object(
  {
    code: literals(ERROR_CODES),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    type: Type.String({ format: 'uri', description: 'The `type` of the Problem Details; this URL returns the entry.' }),
    title: Type.String(),
    description: Type.String(),
    retryable: Type.Boolean({ description: 'Whether the same request can succeed later without changes.' }),
    recovery: Type.Array(Type.Ref(Recovery)),
    endpoints: Type.Array(Type.String(), {
      description: 'Operations that can return this error, such as `POST /api/poll`.',
    }),
  },
  { $id: 'ErrorEntry' },
);
export type ErrorEntry = Static<typeof ErrorEntry>;

export const ErrorCatalog = Type.Object(
  {
    version: Type.String(),
    count: Count,
    recovery_actions: Type.Array(Type.String()),
    errors: Type.Array(Type.Ref(ErrorEntry)),
  },
  { $id: 'ErrorCatalog' },
);
export type ErrorCatalog = Static<typeof ErrorCatalog>;

export function errorCatalog(baseUrl: string, endpointsOf: (code: ErrorCode) => string[]): ErrorCatalog {
  const errors = ERROR_CODES.map((code) => errorEntry(code, baseUrl, endpointsOf(code)));
  return { version: '1.0.0', count: errors.length, recovery_actions: Object.keys(RECOVERY_ACTIONS), errors };
}

function errorEntry(code: ErrorCode, baseUrl: string, endpoints: string[]): ErrorEntry {
  const { status, title, description, retryable } = ERRORS[code];
  const type = `${baseUrl}/errors/${code}`;
  return { code, status, type, title, description, retryable, recovery: recoveryOf(code, baseUrl), endpoints };
}
