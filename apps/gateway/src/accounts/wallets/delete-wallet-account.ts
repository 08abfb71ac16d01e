import type { AccountDeletion, WalletDeletion } from '@eloquentpoll/contracts';
import { findIdentity, inTransaction } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { deleteAccount, prepareDeletion } from '../delete-account.ts';
import { requireOpen } from '../frozen.ts';
import { consumeProof, verifyProof } from './proof.ts';

/** Deletes the account of the wallet that signed. If its balance prevents that, the proof can be used again. */
export async function deleteWalletAccount(
  context: AccountsContext,
  { give_up_balance: givesUp = false, ...proof }: WalletDeletion,
): Promise<AccountDeletion> {
  const wallet = await verifyProof(context, proof, 'delete');
  const known = await findIdentity(context.storage, { kind: 'wallet', address: wallet.bytes });
  if (!known) throw new ApiError('wallet_not_found');
  const { accountId } = requireOpen(known);
  await prepareDeletion(context, accountId, givesUp);
  await inTransaction(context.storage, (tx) => consumeProof(tx, wallet));
  return deleteAccount(context, accountId, givesUp);
}
