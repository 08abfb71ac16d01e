import { WalletLogin, WalletProof } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, json, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { COOKIE, cookieOptions } from '../login/login-cookie.ts';
import { logIn } from '../wallets/log-in.ts';

/** POST /api/wallet/verify: a signed challenge opens a session, and an account with a key the first time. */
export function walletVerify(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: WalletProof }>(
    '/api/wallet/verify',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'verifyWallet',
        tags: ['Account'],
        summary: 'Log in with a signed challenge',
        description:
          'Sets the session cookie. A wallet that is new here gets an account, and its first API key in this answer only.',
        security: access.none,
        body: Type.Ref(WalletProof),
        response: {
          200: json('Logged in.', WalletLogin),
          ...errors(...READS_BODY, 'invalid_wallet_signature'),
        },
      },
    },
    async (request, reply): Promise<WalletLogin> => {
      const { login, cookie } = await logIn(context, request.body);
      reply.setCookie(COOKIE, cookie, cookieOptions(context.config.baseUrl));
      return login;
    },
  );
}
