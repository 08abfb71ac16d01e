import type { PollsContext } from '../polls/context.ts';

/** What taking batches and reading them needs. */
export type BatchesContext = PollsContext;
