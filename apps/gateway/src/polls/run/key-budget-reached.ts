import { findKeyLimit } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { decimalUsd } from '../order/decimal-usd.ts';

const PERIODS = { never: 'in all', daily: 'per UTC day', monthly: 'per month' } as const;

/** The error that says why a key's limit leaves too little for a poll. */
export async function keyBudgetReached(
  { storage }: PollsContext,
  keyId: string,
  holdU: bigint,
  what: 'poll' | 'batch' = 'poll',
): Promise<ApiError> {
  const limit = await findKeyLimit(storage, keyId);
  // The owner has just removed the limit.
  if (!limit) return new ApiError('key_budget_reached');
  const { limitU, spentU, heldU, reset, resetsAt } = limit;
  const renewal = resetsAt ? ` It starts again at ${resetsAt.toISOString()}.` : '';
  return new ApiError('key_budget_reached', {
    detail: `This ${what} may cost up to ${decimalUsd(holdU)} USD; this key may spend ${decimalUsd(limitU)} USD ${PERIODS[reset]}, of which ${decimalUsd(spentU)} USD are spent and ${decimalUsd(heldU)} USD set aside for running polls.${renewal}`,
    members: { resets_at: resetsAt?.toISOString() ?? null },
  });
}
