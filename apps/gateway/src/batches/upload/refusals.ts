import { type BatchRowError, LIMITS } from '@eloquentpoll/contracts';
import type { Config } from '../../config/config.ts';
import { ApiError } from '../../http/api-error.ts';
import { decimalUsd } from '../../polls/order/decimal-usd.ts';

// Why a batch is refused. No row of it runs, and nothing is charged.

export function batchInvalid({ first, count }: { first: readonly BatchRowError[]; count: number }): ApiError {
  const [{ line, message }] = first as [BatchRowError];
  const others = count > 1 ? ` There are ${count} errors.` : '';
  return new ApiError('batch_invalid', {
    detail: `Line ${line}: ${message}.${others}`,
    members: { errors: first, error_count: count },
  });
}

interface Funds {
  reserveU: bigint;
  /** max_cost_usd is less than what the rows may cost. */
  isLimited: boolean;
  availableU: bigint;
  settlingU: bigint;
}

export function batchUnpaid(
  { cardHoldBack }: Pick<Config, 'cardHoldBack'>,
  { reserveU, isLimited, availableU, settlingU }: Funds,
): ApiError {
  const settling =
    settlingU > 0n
      ? `; ${decimalUsd(settlingU)} USD more can be used once the card payment has settled, after ${cardHoldBack.days} days`
      : '';
  const what = isLimited ? 'max_cost_usd is' : 'This batch may cost up to';
  const less =
    availableU > 0n ? ` With max_cost_usd of ${decimalUsd(availableU)} or less it runs as far as that goes.` : '';
  return new ApiError('insufficient_balance', {
    detail: `${what} ${decimalUsd(reserveU)} USD; the available balance is ${decimalUsd(availableU)} USD${settling}.${less}`,
    members: { required_usd: Number(reserveU) / 1e6, available_usd: Number(availableU) / 1e6 },
  });
}

export const keyOfOtherBatch = (): ApiError =>
  new ApiError('idempotency_key_reused', {
    detail: 'This Idempotency-Key was used before with another batch: send that batch again, or use another key.',
  });

export const tooManyBatches = (): ApiError =>
  new ApiError('too_many_batches', {
    detail: `The account has ${LIMITS.batch.open} batches that have not ended; send this one again when one has.`,
    retryAfterSeconds: 60,
  });
