import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { decimalUsd } from '../order/decimal-usd.ts';

interface Funds {
  holdU: bigint;
  availableU: bigint;
  /** Paid by card and held back until the payment has settled. */
  settlingU: bigint;
}

/** The error that says why the balance does not cover a poll. */
export function insufficientFunds(
  { cardHoldBack }: Pick<Config, 'cardHoldBack'>,
  { holdU, availableU, settlingU }: Funds,
): ApiError {
  const settling = `; ${decimalUsd(settlingU)} USD more can be used once the card payment has settled, after ${cardHoldBack.days} days`;
  return new ApiError('insufficient_balance', {
    detail: `This poll may cost up to ${decimalUsd(holdU)} USD; the available balance is ${decimalUsd(availableU)} USD${settlingU > 0n ? settling : ''}.`,
  });
}
