import { GrantRedemption, NewKey } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { createKey, toNewKey } from '../keys/issue-key.ts';
import { takeGrant } from '../keys/key-grant.ts';

/** POST /api/keys/redeem: exchanges the code of a command line's login for a key. */
export function redeemGrantRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: GrantRedemption }>(
    '/api/keys/redeem',
    {
      config: { operation: 'login' },
      schema: {
        operationId: 'redeemGrant',
        tags: ['Account'],
        summary: 'Redeem a command-line login',
        description:
          'The browser gets the code from /dashboard/grant. It is valid for two minutes and one attempt, and only while the login that approved it is active. The verifier is the text whose SHA-256 was sent to that page as challenge.',
        security: access.none,
        body: Type.Ref(GrantRedemption),
        response: {
          201: jsonAnswer('The key.', NewKey),
          ...errors(...READS_BODY, 'login_failed', 'key_limit_reached', 'account_moving'),
        },
      },
    },
    async ({ body: { code, verifier } }, reply): Promise<NewKey> => {
      const grant = await takeGrant(context, code, verifier);
      if (!grant) throw unusable();
      const { accountId, loginId, label } = grant;
      const issued = await createKey(context, { accountId, label }, { loginId }, unusable);
      reply.code(201);
      return toNewKey(issued);
    },
  );
}

const unusable = (): ApiError =>
  new ApiError('login_failed', { detail: 'The code is unknown, used or expired. Log in again.' });
