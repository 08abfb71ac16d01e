import type { WalletKeyProof, WalletRevocation } from '@eloquentpoll/contracts';
import { findIdentity, revokeKey } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { revokeEverywhere } from '../keys/revoke-everywhere.ts';
import { consumeProof, verifyProof } from './proof.ts';

/** Consumes a valid proof even if the wallet's account has no such key. */
export async function revokeWalletKey(context: AccountsContext, proof: WalletKeyProof): Promise<WalletRevocation> {
  const wallet = await verifyProof(context, proof, 'revoke');
  const { accountId, isRevoked } = await revokeEverywhere(context, async (tx) => {
    await consumeProof(tx, wallet);
    const known = await findIdentity(tx, { kind: 'wallet', address: wallet.bytes });
    const isRevoked = known !== null && (await revokeKey(tx, known.accountId, proof.key_id));
    return { accountId: known?.accountId ?? null, isRevoked };
  });
  if (accountId === null) throw new ApiError('wallet_not_found');
  if (!isRevoked) throw new ApiError('key_not_found');
  return { revoked: true, key_id: proof.key_id };
}
