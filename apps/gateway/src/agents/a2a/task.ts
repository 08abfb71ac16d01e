import type { PollResponse } from '@eloquentpoll/contracts';
import { quotedVerdictOf } from '@eloquentpoll/polls';
import { findResultOfPoll, NAMED_TASK, type Poll } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';

// A task is a poll that arrived in a message. It has no state of its own: everything is derived from the stored poll.

export interface Task {
  id: string;
  /** Null if the caller gave none and the version does not require one. */
  contextId: string | null;
  /** A tie is completed; a poll without a valid vote has failed. A canceled poll has a result if models had voted. */
  state: 'working' | 'completed' | 'failed' | 'canceled';
  at: Date;
  result: PollResponse | null;
}

export type TaskNames = Pick<Task, 'id' | 'contextId'>;

/** Versions after 0.1 require a context id; a task without one uses its own id. */
export const namesOf = ({ id, contextId, entryPoint }: Poll): TaskNames => ({
  id,
  contextId: contextId ?? (entryPoint === NAMED_TASK ? null : id),
});

/** The task of a poll, including its stored result. */
export async function readTask({ storage }: PollsContext, poll: Poll, names: TaskNames): Promise<Task> {
  const stored = poll.status === 'running' ? null : await findResultOfPoll(storage, poll.id);
  return taskOf(poll, stored?.detail ?? null, names);
}

export function taskOf(poll: Poll, result: PollResponse | null, names: TaskNames): Task {
  if (poll.status === 'running') return { ...names, state: 'working', at: poll.createdAt, result: null };
  return {
    ...names,
    state: poll.canceledAt !== null ? 'canceled' : poll.status === 'completed' ? 'completed' : 'failed',
    at: poll.finishedAt ?? poll.createdAt,
    result,
  };
}

/** The verdict in words. Options are quoted, so that they cannot pass for our own text (prompt injection). */
export function taskText({ state, result }: Task): string {
  if (state === 'working') return 'The models are voting.';
  if (result) return quotedVerdictOf(result, { isCanceled: state === 'canceled' });
  return state === 'canceled' ? 'Canceled before a model had voted.' : 'No model gave a valid vote.';
}
