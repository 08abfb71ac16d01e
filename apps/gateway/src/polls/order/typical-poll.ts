import type { PollOrder } from '@eloquentpoll/polls';
import { type RunRequest, toOrder } from './poll-order.ts';

const QUESTION_LENGTH = 120;
const OPTION_LENGTH = 24;

/** Completes an incomplete order with texts of usual length; an estimate depends on their length only. */
export const typicalOrder = ({ options, ...named }: Partial<RunRequest>, optionCount = 2): PollOrder =>
  toOrder({
    ...named,
    question: named.question ?? named.prompt ?? 'x'.repeat(QUESTION_LENGTH),
    options: options ?? Array.from({ length: optionCount }, (_, i) => `${i}`.padEnd(OPTION_LENGTH, 'x')),
  });
