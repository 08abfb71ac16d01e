import { balanceOf } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { PollsContext } from '../context.ts';
import { decimalUsd } from '../order/decimal-usd.ts';

/** Why a poll cannot be paid: too little, or paid by a card that has not settled yet. */
export async function insufficientFunds(
  { storage, config }: PollsContext,
  accountId: string | null,
  { holdU, availableU }: { holdU: bigint; availableU: bigint },
): Promise<ApiError> {
  const balance = accountId === null ? null : await balanceOf(storage, accountId);
  const heldBackU = balance?.heldBackU ?? 0n;
  const settling = `; ${decimalUsd(heldBackU)} USD more can be used once the card payment has settled, after ${config.cardHoldBack.days} days`;
  return new ApiError('insufficient_balance', {
    detail: `This poll may cost up to ${decimalUsd(holdU)} USD; the available balance is ${decimalUsd(availableU)} USD${heldBackU > 0n ? settling : ''}.`,
  });
}
