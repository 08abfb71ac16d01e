import type { WalletKeyProof, WalletRevocation } from '@eloquentpoll/contracts';
import { findIdentity, inTransaction, revokeKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { prove, useUp } from './proof.ts';

/** Ends one key of the wallet's account. A good proof is used up by this also when there is no such key. */
export async function revokeWalletKey(context: AccountsContext, proof: WalletKeyProof): Promise<WalletRevocation> {
  const { storage, keys } = context;
  const wallet = await prove(context, proof, 'revoke');
  const { known, hash } = await inTransaction(storage, async (tx) => {
    await useUp(tx, wallet);
    const known = await findIdentity(tx, { kind: 'wallet', address: wallet.bytes });
    return { known, hash: known && (await revokeKey(tx, known.accountId, proof.key_id)) };
  });
  if (!known) throw new ApiError('wallet_not_found');
  if (!hash) throw new ApiError('key_not_found');
  await keys.distrust(hash);
  return { revoked: true, key_id: proof.key_id };
}
