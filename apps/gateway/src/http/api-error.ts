import type { ErrorCode, Issue, RecoveryAction } from '@eloquentpoll/contracts';

interface Circumstances {
  /** A sentence for the caller about this occurrence. It never contains upstream text, SQL or a stack trace. */
  detail?: string;
  issues?: readonly Issue[];
  retryAfterSeconds?: number;
  /** Recovery actions in addition to those that the code always offers. */
  recovery?: readonly RecoveryAction[];
  headers?: Record<string, string>;
  /** Members that another protocol expects at the top level of the body, in both of its forms. */
  members?: Readonly<Record<string, unknown>>;
  /** The poll that this request made, or may have made. It may still run or have ended. */
  leavesPoll?: string;
  cause?: unknown;
}

/** Refuses a request with a code of the closed catalogue. Thrown wherever the reason is known. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly circumstances: Circumstances;

  constructor(code: ErrorCode, circumstances: Circumstances = {}) {
    super(circumstances.detail ?? code, { cause: circumstances.cause });
    this.name = 'ApiError';
    this.code = code;
    this.circumstances = circumstances;
  }
}

/** A 400 that lists everything that is wrong: one sentence for people, one pointer per field for programs. */
export function invalid(issues: readonly Issue[], code: ErrorCode = 'validation_error'): ApiError {
  return new ApiError(code, { detail: issues.map((issue) => issue.detail).join('; '), issues });
}
