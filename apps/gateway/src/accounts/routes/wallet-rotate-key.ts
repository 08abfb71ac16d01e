import { WalletProof, WalletRotation } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { rotateKeys } from '../wallets/rotate-keys.ts';

/** POST /api/wallet/rotate-key: replaces all keys by one new key. */
export function walletRotateKeyRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: WalletProof }>(
    '/api/wallet/rotate-key',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'rotateKeysByWallet',
        tags: ['Account'],
        summary: 'Rotate all API keys by wallet',
        description:
          "Revokes all active keys and logins of the wallet's account and creates one key, in one step. The key is shown only in this response.",
        security: access.none,
        body: Type.Ref(WalletProof),
        response: {
          200: jsonAnswer('The new key.', WalletRotation),
          ...errors(...READS_BODY, 'invalid_wallet_signature', 'wallet_not_found'),
        },
      },
    },
    async ({ body }): Promise<WalletRotation> => rotateKeys(context, body),
  );
}
