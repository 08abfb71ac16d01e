import { WalletLogin, WalletProof } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { setLoginCookies } from '../login/login-cookie.ts';
import { logInWithWallet } from '../wallets/log-in.ts';

/** POST /api/wallet/verify: logs a wallet in; the first time it also creates an account and a key. */
export function walletVerifyRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: WalletProof }>(
    '/api/wallet/verify',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'verifyWallet',
        tags: ['Account'],
        summary: 'Sign in with a wallet',
        description:
          'Sets the session cookie. A new wallet gets an account and its first API key, which is shown only in this response.',
        security: access.none,
        body: Type.Ref(WalletProof),
        response: {
          200: jsonAnswer('Logged in.', WalletLogin),
          ...errors(...READS_BODY, 'invalid_wallet_signature'),
        },
      },
    },
    async (request, reply): Promise<WalletLogin> => {
      const { body, cookie } = await logInWithWallet(context, request.body);
      setLoginCookies(reply, context.config, { accountId: body.user_id, cookie });
      return body;
    },
  );
}
