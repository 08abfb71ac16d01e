import type { ErrorCode, Issue, RecoveryAction } from '@eloquentpoll/contracts';

interface Circumstances {
  /** A sentence for the caller about this occurrence. Never text from upstream, SQL or a stack. */
  detail?: string;
  issues?: readonly Issue[];
  retryAfterSeconds?: number;
  /** What the caller can do besides what the code always offers. */
  recovery?: readonly RecoveryAction[];
  headers?: Record<string, string>;
  /** Members that another protocol expects at the top of the body, in both of its forms. */
  members?: Readonly<Record<string, unknown>>;
  /** The poll of this request, which was made, or may have been, and goes on or has ended. */
  leavesPoll?: string;
  cause?: unknown;
}

/** A refusal of a request, with a code of the closed catalogue; thrown wherever the reason is known. */
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

/** A 400 with everything that is wrong: one sentence for a person, one pointer per field for a program. */
export function invalid(issues: readonly Issue[], code: ErrorCode = 'validation_error'): ApiError {
  return new ApiError(code, { detail: issues.map((issue) => issue.detail).join('; '), issues });
}
