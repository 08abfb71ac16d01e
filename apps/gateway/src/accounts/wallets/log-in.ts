import type { WalletLogin, WalletProof } from '@eloquentpoll/contracts';
import { admitIdentity, insertLogin, inTransaction, noteOwnKey } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { requireOpen } from '../frozen.ts';
import { issueKey } from '../keys/issue-key.ts';
import { consumeProof, verifyProof } from './proof.ts';

export interface WalletLoginResult {
  body: WalletLogin;
  /** The value of the login cookie. */
  cookie: string;
}

/** Consumes the proof and creates account, key and login in one transaction. */
export async function logInWithWallet(context: AccountsContext, proof: WalletProof): Promise<WalletLoginResult> {
  const { config, storage, sealer } = context;
  const wallet = await verifyProof(context, proof, 'login');
  const { loginId, ...body } = await inTransaction(storage, async (tx) => {
    await consumeProof(tx, wallet);
    const known = requireOpen(await admitIdentity(tx, { kind: 'wallet', address: wallet.bytes }));
    const { accountId, isNewAccount } = known;
    if (isNewAccount && wallet.isByOwnKey) await noteOwnKey(tx, wallet.bytes);
    const issued = isNewAccount ? await issueKey(config, tx, { accountId, label: 'First login' }) : null;
    return {
      address: wallet.address,
      user_id: accountId,
      is_new_user: isNewAccount,
      ...(issued && { api_key: issued.key }),
      loginId: await insertLogin(tx, known),
    };
  });
  return { body, cookie: await sealer.seal(loginId) };
}
