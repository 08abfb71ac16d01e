import { isJsonObject } from '@eloquentpoll/contracts';
import { readPollOrder } from './poll-order.ts';
import { readShortOrder, type ShortOrder } from './short-order.ts';
import type { CallerKind } from './themes.ts';

// POST /api/poll takes a poll in full or in shorthand: a body with a short field, or a question without options, is
// shorthand.

export const isShorthand = (body: unknown): boolean =>
  hasShortField(body) || (hasAny(body, ['question', 'prompt']) && !hasAny(body, ['options']));

/** Whether a body has a field that only the short form knows. */
const hasShortField = (body: unknown): boolean => hasAny(body, ['q', 'o', 'poll', 'theme']);

const hasAny = (body: unknown, names: readonly string[]): boolean =>
  isJsonObject(body) && names.some((name) => name in body);

export function readAnyOrder(body: unknown, caller: CallerKind): ShortOrder {
  return isShorthand(body) ? readShortOrder(body, caller) : { order: readPollOrder(body), optionsSource: 'caller' };
}
