import { type Static, Type } from '@sinclair/typebox';
import { ERROR_CODES, ERRORS, type ErrorCode, RECOVERY_ACTIONS, type RecoveryAction } from './errors.ts';
import { literals } from './vocabulary.ts';

// The two bodies of an error: the plain one, and Problem Details (RFC 9457) for machines that ask for it. Both carry
// `error`, `code` and `request_id`, so one client parser reads either.

/** Where a poll was made and how it ended is not known: it may have been billed, and this finds it. */
export const MadeSession = Type.Optional(
  Type.String({
    description:
      'The poll that this request created or may have created. It may be running or have ended: read its status before you try again. If the status is 404, the poll does not exist.',
  }),
);

const errorFields = {
  error: Type.String({ description: 'What went wrong, for people.' }),
  code: literals(ERROR_CODES),
  request_id: Type.String({ description: 'The value of the X-Request-Id header.' }),
  session_id: MadeSession,
};

export const ErrorBody = Type.Object(errorFields, { $id: 'Error' });
export type ErrorBody = Static<typeof ErrorBody>;

export const Recovery = Type.Object(
  {
    action: literals(Object.keys(RECOVERY_ACTIONS) as (keyof typeof RECOVERY_ACTIONS)[]),
    description: Type.String(),
    method: Type.Optional(Type.String()),
    url: Type.Optional(Type.String()),
    after_seconds: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  { $id: 'Recovery' },
);
export type Recovery = Static<typeof Recovery>;

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String(),
    instance: Type.String({ format: 'uri' }),
    ...errorFields,
    retryable: Type.Boolean(),
    recovery: Type.Array(Type.Ref(Recovery)),
    errors: Type.Optional(
      Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
        description: 'The wrong fields, each with a JSON pointer into the request.',
      }),
    ),
  },
  { $id: 'Problem' },
);
export type Problem = Static<typeof Problem>;

/** One thing that is wrong with a request, and where: `#/options/1`. */
export interface Issue {
  pointer: string;
  detail: string;
}

/** What the thrower knows about one occurrence of an error. */
export interface Occurrence {
  code: ErrorCode;
  requestId: string;
  /** A sentence about this occurrence; the title of the catalogue otherwise. Never upstream text. */
  detail?: string | undefined;
  issues?: readonly Issue[] | undefined;
  retryAfterSeconds?: number | undefined;
  /** Ways out of this occurrence, before those that its code always has. */
  recovery?: readonly RecoveryAction[] | undefined;
  /** Further members, at the top of either body and in the `error` of chat: the payment terms of a deposit, a session's id. */
  members?: Readonly<Record<string, unknown>> | undefined;
}

export function errorBody(occurrence: Occurrence): ErrorBody {
  const { code, requestId, members } = occurrence;
  return { ...members, error: occurrence.detail ?? ERRORS[code].title, code, request_id: requestId };
}

export function problemBody(occurrence: Occurrence, baseUrl: string): Problem {
  const { status, title, description, retryable } = ERRORS[occurrence.code];
  return {
    ...occurrence.members,
    type: `${baseUrl}/errors/${occurrence.code}`,
    title,
    status,
    detail: occurrence.detail ?? description,
    instance: `urn:request:${occurrence.requestId}`,
    ...errorBody(occurrence),
    retryable,
    recovery: [...(occurrence.recovery ?? []), ...ERRORS[occurrence.code].recovery].map((action) =>
      recoveryStep(action, baseUrl, occurrence.retryAfterSeconds),
    ),
    ...(occurrence.issues?.length && { errors: [...occurrence.issues] }),
  };
}

/** The recovery actions of a code, as a client can follow them. */
export function recoveryOf(code: ErrorCode, baseUrl: string): Recovery[] {
  return ERRORS[code].recovery.map((action) => recoveryStep(action, baseUrl));
}

function recoveryStep(action: RecoveryAction, baseUrl: string, retryAfterSeconds?: number): Recovery {
  const { description, ...way } = RECOVERY_ACTIONS[action];
  return {
    action,
    description,
    ...('path' in way && { method: way.method, url: `${baseUrl}${way.path}` }),
    ...(action === 'back_off' && retryAfterSeconds !== undefined && { after_seconds: retryAfterSeconds }),
  };
}
