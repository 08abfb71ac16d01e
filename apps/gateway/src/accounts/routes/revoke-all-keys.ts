import { KeysRevocation } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { revokeEverything } from '../keys/revoke-everything.ts';

/** DELETE /api/keys: for use after a key or a cookie was stolen. */
export function revokeAllKeysRoute(app: FastifyInstance, context: AccountsContext): void {
  app.delete(
    '/api/keys',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'revokeAllKeys',
        tags: ['Account'],
        summary: 'Revoke all API keys and logins',
        description:
          "Also revokes the caller's own key or login. Afterwards sign in again, also possible with a wallet, and create a new key. A key that has a limit, expires or is read-only revokes only itself.",
        security: access.sessionOrBearer,
        response: {
          200: jsonAnswer('How many keys and logins were revoked.', KeysRevocation),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'restricted_key', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<KeysRevocation> => {
      requireUnrestricted(request.principal);
      return revokeEverything(context, accountOf(request));
    },
  );
}
