import { createHash } from 'node:crypto';
import { ApiError } from '../../http/api-error.ts';

const MAX_NAME_LENGTH = 255;

/** A task or context id sent by a caller; null if absent. */
export function readName(value: unknown, field: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH) return value;
  throw new ApiError('invalid_task_input', {
    detail: `${field} must be a string of at most ${MAX_NAME_LENGTH} characters.`,
  });
}

/** The idempotency key for a task id that a caller chose. */
export const keyOfTask = (id: string): string => createHash('sha256').update(id).digest('base64url');
