import type { PollResponse } from '@eloquentpoll/contracts';
import type { Result } from '@eloquentpoll/storage';

/** What is stored with a result is the answer that its caller got, word for word. */
export const toPollResponse = (result: Result): PollResponse => result.detail as PollResponse;
