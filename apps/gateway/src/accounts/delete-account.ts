import type { AccountDeletion } from '@eloquentpoll/contracts';
import { balanceOf } from '@eloquentpoll/storage';
import { ApiError } from '../http/api-error.ts';
import { dollarsOfCents } from './balance.ts';
import { closeEverywhere } from './close-everywhere.ts';
import type { AccountsContext } from './context.ts';

/** What is left is given up only where its owner says so; a refund is the operator's, and comes before. */
export async function refuseWithBalance(
  { storage, config }: AccountsContext,
  accountId: string,
  givesUp: boolean,
): Promise<number> {
  const balance = await balanceOf(storage, accountId);
  // What running polls hold comes back when they end.
  const leftU = balance === null ? 0n : balance.postedU;
  if (leftU > 0n && !givesUp) {
    throw new ApiError('balance_left', {
      detail: `${dollarsOfCents(leftU / 10_000n)} is left. Spend it, ask ${config.contactEmail} to pay it back, or send give_up_balance: it is not paid out afterwards.`,
    });
  }
  return leftU > 0n ? Number(leftU) / 1_000_000 : 0;
}

export async function deleteAccount(
  context: AccountsContext,
  accountId: string,
  givesUp: boolean,
): Promise<AccountDeletion> {
  const givenUp = await refuseWithBalance(context, accountId, givesUp);
  if (!(await closeEverywhere(context, accountId))) throw new ApiError('authentication_required');
  return { deleted: true, given_up_usd: givenUp };
}
