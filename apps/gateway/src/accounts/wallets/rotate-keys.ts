import type { WalletProof, WalletRotation } from '@eloquentpoll/contracts';
import { closeLogins, findIdentity, revokeAllKeys } from '@eloquentpoll/storage';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { requireOpen } from '../frozen.ts';
import { issueKey, KEY_SHOWN_ONCE } from '../keys/issue-key.ts';
import { revokeEverywhere } from '../keys/revoke-everywhere.ts';
import { consumeProof, verifyProof } from './proof.ts';

/** Ends all keys and logins of the wallet's account and issues one key. Then no gateway accepts an old key. */
export async function rotateKeys(context: AccountsContext, proof: WalletProof): Promise<WalletRotation> {
  const { config } = context;
  const wallet = await verifyProof(context, proof, 'rotate');
  const { revoked, issued } = await revokeEverywhere(context, async (tx) => {
    await consumeProof(tx, wallet);
    const known = await findIdentity(tx, { kind: 'wallet', address: wallet.bytes });
    if (!known) return { accountId: null, revoked: [], issued: null };
    const { accountId } = requireOpen(known);
    const revoked = await revokeAllKeys(tx, accountId);
    await closeLogins(tx, accountId);
    return { accountId, revoked, issued: await issueKey(config, tx, { accountId, label: 'Rotation' }) };
  });
  if (!issued) throw new ApiError('wallet_not_found');
  return {
    revoked_count: revoked.length,
    api_key: issued.key,
    key_id: issued.id,
    key_prefix: issued.prefix,
    warning: KEY_SHOWN_ONCE,
  };
}
