import { AccountDeletion, AccountDeletionQuery } from '@eloquentpoll/contracts';
import { isRecentLogin } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY } from '../../http/answers.ts';
import { ApiError, invalid } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { deleteAccount } from '../delete-account.ts';
import { clearLoginCookies } from '../login/login-cookie.ts';

const RECENT_MINUTES = 15;

/** DELETE /api/account: deletes the account; the login must be recent. */
export function deleteAccountRoute(app: FastifyInstance, context: AccountsContext): void {
  app.delete<{ Querystring: AccountDeletionQuery }>(
    '/api/account',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'deleteAccount',
        tags: ['Account'],
        summary: 'Delete your account',
        description: `Cannot be undone. Keys, logins, wallets, saved panels, webhooks and feedback are deleted at once, all results answer 404, and running polls end. Questions, options and answers are deleted within minutes. Transfers are kept for bookkeeping, with ids only. Open card payments are ended first; if one is still being processed, the response is 409. A key cannot delete an account: sign in (the login may be at most ${RECENT_MINUTES} minutes old), or send a wallet's signature to POST /api/wallet/delete-account.`,
        security: access.session,
        querystring: AccountDeletionQuery,
        response: {
          200: jsonAnswer('It is deleted.', AccountDeletion),
          ...errors(
            ...READS_BODY,
            'authentication_required',
            'recent_login_required',
            'forbidden_origin',
            'balance_left',
            'payment_under_way',
          ),
        },
      },
    },
    async (request, reply): Promise<AccountDeletion> => {
      const accountId = accountOf(request);
      const { confirm, give_up_balance: givesUp = false } = request.query;
      if (confirm !== accountId) {
        throw invalid([{ pointer: '#/confirm', detail: 'confirm must be the userId of GET /api/auth/me' }]);
      }
      if (!(await isRecentLogin(context.storage, request.principal?.loginId ?? '', RECENT_MINUTES))) {
        throw new ApiError('recent_login_required', {
          detail: `This needs a login that is at most ${RECENT_MINUTES} minutes old: open /api/auth/login, or sign in with the wallet, and try again.`,
        });
      }
      const deletion = await deleteAccount(context, accountId, givesUp);
      clearLoginCookies(reply, context.config.baseUrl);
      return deletion;
    },
  );
}
