import { WalletKeyProof, WalletRevocation } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { revokeWalletKey } from '../wallets/revoke-wallet-key.ts';

/** POST /api/wallet/revoke-key: revokes a key with a wallet signature, without a login. */
export function walletRevokeKeyRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: WalletKeyProof }>(
    '/api/wallet/revoke-key',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'revokeKeyByWallet',
        tags: ['Account'],
        summary: 'Revoke an API key by wallet',
        description: 'The signature is used up even if no such key is found.',
        security: access.none,
        body: Type.Ref(WalletKeyProof),
        response: {
          200: jsonAnswer('The key is revoked.', WalletRevocation),
          ...errors(...READS_BODY, 'invalid_wallet_signature', 'key_not_found', 'wallet_not_found'),
        },
      },
    },
    async ({ body }): Promise<WalletRevocation> => revokeWalletKey(context, body),
  );
}
