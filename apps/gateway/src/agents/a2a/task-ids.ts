import { createHash } from 'node:crypto';
import { isPollId } from '@eloquentpoll/polls';
import { ApiError } from '../../http/api-error.ts';

// A task id is chosen by the caller (version 0.1), or is the poll's id followed by the encoded contextId, so that a later
// read returns the same contextId.

const MAX_NAME_LENGTH = 255;

export interface TaskId {
  pollId: string;
  contextId: string;
}

export const taskIdOf = (pollId: string, contextId: string | null): string =>
  contextId === null ? pollId : `${pollId}.${Buffer.from(contextId).toString('base64url')}`;

/** null for an id that was chosen by a caller. */
export function parseTaskId(id: string): TaskId | null {
  const [pollId = '', context] = id.split('.');
  if (!isPollId(pollId)) return null;
  return { pollId, contextId: context ? Buffer.from(context, 'base64url').toString() : pollId };
}

/** A task or context id from a caller; null if absent. */
export function readName(value: unknown, field: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= MAX_NAME_LENGTH) return value;
  throw new ApiError('invalid_task_input', {
    detail: `${field} must be a string of at most ${MAX_NAME_LENGTH} characters.`,
  });
}

/** The idempotency key of a task id that a caller chose. */
export const keyOfTask = (id: string): string => createHash('sha256').update(id).digest('base64url');
