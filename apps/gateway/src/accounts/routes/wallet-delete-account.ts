import { AccountDeletion, WalletDeletion } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { deleteWalletAccount } from '../wallets/delete-wallet-account.ts';

/** POST /api/wallet/delete-account: deletes a wallet's account with its signature, without a login. */
export function walletDeleteAccountRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: WalletDeletion }>(
    '/api/wallet/delete-account',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'deleteAccountByWallet',
        tags: ['Account'],
        summary: 'Delete an account by wallet',
        description:
          'Like DELETE /api/account. Needs a challenge with `purpose=delete`; its message names the deletion.',
        security: access.none,
        body: Type.Ref(WalletDeletion),
        response: {
          200: jsonAnswer('It is deleted.', AccountDeletion),
          ...errors(...READS_BODY, 'invalid_wallet_signature', 'wallet_not_found', 'balance_left', 'payment_under_way'),
        },
      },
    },
    async ({ body }): Promise<AccountDeletion> => deleteWalletAccount(context, body),
  );
}
