import { readPollOrder } from './poll-order.ts';
import { readShortOrder, type ShortOrder } from './short-order.ts';
import type { Caller } from './themes.ts';

// POST /api/poll takes a poll in full and in shorthand. What a body says decides which it is: a short field, or a
// question without options.

export function isShorthand(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const says = (name: string): boolean => name in body;
  return ['q', 'o', 'poll', 'theme'].some(says) || (['question', 'prompt'].some(says) && !says('options'));
}

export function readAnyOrder(body: unknown, caller: Caller): ShortOrder {
  return isShorthand(body) ? readShortOrder(body, caller) : { order: readPollOrder(body), optionsSource: 'caller' };
}
