import { isJsonObject } from '@eloquentpoll/contracts';
import { readPollOrder } from './poll-order.ts';
import { readShortOrder, type ShortOrder } from './short-order.ts';
import type { CallerKind } from './themes.ts';

// POST /api/poll takes a poll in full or in shorthand. A body with a shorthand field, or a question without options,
// counts as shorthand.

export const isShorthand = (body: unknown): boolean =>
  hasShortField(body) || (hasAny(body, ['question', 'prompt']) && !hasAny(body, ['options']));

/** Whether the body has a field that exists only in shorthand. */
const hasShortField = (body: unknown): boolean => hasAny(body, ['q', 'o', 'poll', 'theme']);

const hasAny = (body: unknown, names: readonly string[]): boolean =>
  isJsonObject(body) && names.some((name) => name in body);

export function readAnyOrder(body: unknown, caller: CallerKind): ShortOrder {
  return isShorthand(body) ? readShortOrder(body, caller) : { order: readPollOrder(body), optionsSource: 'caller' };
}
