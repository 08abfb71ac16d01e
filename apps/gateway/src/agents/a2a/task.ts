import type { PollResponse } from '@eloquentpoll/contracts';
import { findResultOfPoll, type Poll } from '@eloquentpoll/storage';
import type { PollsContext } from '../../polls/context.ts';

// A task is a poll that came in a message. It has no state of its own: it is told from what is stored of the poll,
// whether its caller waited for it or asks later.

/** The operations that task polls come by; whoever names a task has a room of keys for that. */
export const TASK = 'a2a';
export const NAMED_TASK = 'a2a-named';

export interface Task {
  id: string;
  /** null where the caller gave none and the protocol wants none. */
  contextId: string | null;
  /** A tie is an outcome. A poll in which no model gave a vote failed. */
  state: 'working' | 'completed' | 'failed';
  at: Date;
  result: PollResponse | null;
}

export async function taskOf(
  { storage }: PollsContext,
  poll: Poll,
  name: Pick<Task, 'id' | 'contextId'>,
): Promise<Task> {
  if (poll.status === 'running') return { ...name, state: 'working', at: poll.createdAt, result: null };
  const result = await findResultOfPoll(storage, poll.id);
  return {
    ...name,
    state: poll.status === 'completed' ? 'completed' : 'failed',
    at: poll.finishedAt ?? poll.createdAt,
    result: result?.detail ?? null,
  };
}

/** What came out, in a sentence. Quoted, so that no option passes for words of ours. */
export function sentence({ state, result }: Task): string {
  if (state === 'working') return 'The models are voting.';
  if (!result || state === 'failed') return 'No model gave a valid vote; nothing was charged.';
  const votes = result.votes.filter(({ success }) => success).length;
  if (result.winning_option === null) return `A tie after ${votes} votes.`;
  return `Winner: ${JSON.stringify(result.winning_option)} (${result.tally[result.winning_option]} of ${votes} votes).`;
}
