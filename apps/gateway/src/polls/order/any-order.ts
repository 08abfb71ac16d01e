import { readPollOrder } from './poll-order.ts';
import { readShortOrder, type ShortOrder } from './short-order.ts';
import type { CallerKind } from './themes.ts';

// POST /api/poll takes a poll in full or in shorthand: a body with a short field, or a question without options, is
// shorthand.

export function isShorthand(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return false;
  const has = (name: string): boolean => name in body;
  return ['q', 'o', 'poll', 'theme'].some(has) || (['question', 'prompt'].some(has) && !has('options'));
}

export function readAnyOrder(body: unknown, caller: CallerKind): ShortOrder {
  return isShorthand(body) ? readShortOrder(body, caller) : { order: readPollOrder(body), optionsSource: 'caller' };
}
