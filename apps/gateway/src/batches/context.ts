import type { PollsContext } from '../polls/context.ts';

/** What is needed to accept batches and to read them. */
export type BatchesContext = PollsContext;
