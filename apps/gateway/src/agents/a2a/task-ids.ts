import { createHash } from 'node:crypto';
import { isPollId } from '@eloquentpoll/polls';
import { ApiError } from '../../http/api-error.ts';

// What a task is called. A caller of the first generation names it; else its name is its poll's, followed by the
// context that the caller gave, so that a task that is asked for later is in its context again.

const LONGEST = 255;

export interface TaskName {
  pollId: string;
  contextId: string;
}

export const taskIdOf = (pollId: string, contextId: string | null): string =>
  contextId === null ? pollId : `${pollId}.${Buffer.from(contextId).toString('base64url')}`;

/** null for what is no name of ours. */
export function readTaskId(id: string): TaskName | null {
  const [pollId = '', context] = id.split('.');
  if (!isPollId(pollId)) return null;
  return { pollId, contextId: context ? Buffer.from(context, 'base64url').toString() : pollId };
}

/** A name that a caller may give: of a task, or of a context. */
export function givenName(value: unknown, field: string): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string' && value.length <= LONGEST) return value;
  throw new ApiError('invalid_task_input', { detail: `${field} must be a string of at most ${LONGEST} characters.` });
}

/** The name that a caller gave a task, as the key under which its poll is found again. */
export const keyOfTask = (id: string): string => createHash('sha256').update(id).digest('base64url');
