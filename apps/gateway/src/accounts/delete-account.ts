import type { AccountDeletion } from '@eloquentpoll/contracts';
import { balanceOf } from '@eloquentpoll/storage';
import { ApiError } from '../http/api-error.ts';
import { dollarsOfCents } from './balance.ts';
import { closeEverywhere } from './close-everywhere.ts';
import type { AccountsContext } from './context.ts';

/** Ends open payments first, because money paid into a deleted account is out of reach. */
export async function prepareDeletion(context: AccountsContext, accountId: string, givesUp: boolean): Promise<void> {
  const balance = await balanceOf(context.storage, accountId);
  refuseWithBalance(context, balance?.postedU ?? 0n, givesUp);
  for (const end of context.endsOfPayments) await end(accountId);
}

/** A remaining balance is given up only if the owner says so. Refunds are made by the operator, before the deletion. */
function refuseWithBalance({ config }: AccountsContext, postedU: bigint, givesUp: boolean): number {
  // Holds of running polls count too: they come back when the polls end.
  if (postedU > 0n && !givesUp) {
    throw new ApiError('balance_left', {
      detail: `${dollarsOfCents(postedU / 10_000n)} is left. Spend it, ask ${config.contactEmail} to pay it back, or send give_up_balance: it is not paid out afterwards.`,
    });
  }
  return postedU > 0n ? Number(postedU) / 1_000_000 : 0;
}

export async function deleteAccount(
  context: AccountsContext,
  accountId: string,
  givesUp: boolean,
): Promise<AccountDeletion> {
  await prepareDeletion(context, accountId, givesUp);
  let givenUp = 0;
  const isClosed = await closeEverywhere(context, accountId, ({ postedU, unpaidCheckouts }) => {
    givenUp = refuseWithBalance(context, postedU, givesUp);
    if (unpaidCheckouts > 0) throw paymentUnderWay(context);
  });
  if (!isClosed) throw new ApiError('authentication_required');
  return { deleted: true, given_up_usd: givenUp };
}

export const paymentUnderWay = ({ config }: Pick<AccountsContext, 'config'>, cause?: unknown): ApiError =>
  new ApiError('payment_under_way', {
    detail: `A card payment was begun and is not decided, or the processor does not answer: repeat this later, or ask ${config.contactEmail}.`,
    retryAfterSeconds: 60,
    cause,
  });
