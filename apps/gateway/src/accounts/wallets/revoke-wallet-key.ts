import type { WalletKeyProof, WalletRevocation } from '@eloquentpoll/contracts';
import { findIdentity, inTransaction, revokeKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { consumeProof, verifyProof } from './proof.ts';

/** Consumes a valid proof even if the wallet's account has no such key. */
export async function revokeWalletKey(context: AccountsContext, proof: WalletKeyProof): Promise<WalletRevocation> {
  const { storage, keys } = context;
  const wallet = await verifyProof(context, proof, 'revoke');
  const { known, hash } = await inTransaction(storage, async (tx) => {
    await consumeProof(tx, wallet);
    const known = await findIdentity(tx, { kind: 'wallet', address: wallet.bytes });
    const hash = known && (await revokeKey(tx, known.accountId, proof.key_id));
    if (hash) await keys.forget([hash]);
    return { known, hash };
  });
  if (!known) throw new ApiError('wallet_not_found');
  if (!hash) throw new ApiError('key_not_found');
  await keys.invalidate(hash);
  return { revoked: true, key_id: proof.key_id };
}
