import type { AccountDeletion } from '@eloquentpoll/contracts';
import { balanceOf } from '@eloquentpoll/storage';
import { ApiError } from '../http/api-error.ts';
import { dollarsOfCents } from './balance.ts';
import { closeEverywhere } from './close-everywhere.ts';
import type { AccountsContext } from './context.ts';

/** Payments that were begun are ended first, because what a deleted account is paid cannot be reached. */
export async function prepareDeletion(context: AccountsContext, accountId: string, givesUp: boolean): Promise<void> {
  const balance = await balanceOf(context.storage, accountId);
  refuseWithBalance(context, balance?.postedU ?? 0n, givesUp);
  for (const end of context.endsOfPayments) await end(accountId);
}

/** What is left is given up only where its owner says so; a refund is the operator's, and comes before. */
function refuseWithBalance({ config }: AccountsContext, postedU: bigint, givesUp: boolean): number {
  // What running polls hold comes back when they end.
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
