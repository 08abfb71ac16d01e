import type { WalletLogin, WalletProof } from '@eloquentpoll/contracts';
import { admitIdentity, inTransaction, openCookieSession } from '@eloquentpoll/storage';
import type { AccountsContext } from '../context.ts';
import { issueKey } from '../keys/issue-key.ts';
import { prove, useUp } from './proof.ts';

/** What a wallet's owner gets for a proof, and the value of the session cookie that goes with it. */
export interface LoggedIn {
  login: WalletLogin;
  cookie: string;
}

/** Account, key and session of a new wallet begin together with the use of its proof, or none of them does. */
export async function logIn(context: AccountsContext, proof: WalletProof): Promise<LoggedIn> {
  const { config, storage, sealer } = context;
  const wallet = await prove(context, proof, 'login');
  const { sessionId, ...login } = await inTransaction(storage, async (tx) => {
    await useUp(tx, wallet);
    const known = await admitIdentity(tx, { kind: 'wallet', address: wallet.bytes });
    const { accountId, isNewAccount } = known;
    const issued = isNewAccount ? await issueKey(config, tx, { accountId, label: 'First login' }) : null;
    return {
      address: wallet.address,
      user_id: accountId,
      is_new_user: isNewAccount,
      ...(issued && { api_key: issued.key }),
      sessionId: await openCookieSession(tx, known),
    };
  });
  return { login, cookie: await sealer.seal(sessionId) };
}
