import { KeyParams, KeyRevocation } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { isKeyId, revokeKeyEverywhere } from '../keys/revoke-key.ts';

/** DELETE /api/keys/{keyId}. Once it has answered, no gateway accepts the key. */
export function revokeKeyRoute(app: FastifyInstance, context: AccountsContext): void {
  app.delete<{ Params: KeyParams }>(
    '/api/keys/:keyId',
    {
      config: { operation: 'account' },
      // A malformed id is 404, not a validation error.
      preValidation: async ({ params }) => {
        if (!isKeyId(params.keyId)) throw new ApiError('key_not_found');
      },
      schema: {
        operationId: 'revokeKey',
        tags: ['Account'],
        summary: 'Revoke an API key',
        description:
          'Every key can revoke itself. A key that has a limit, expires or is read-only can revoke no other key. Unknown keys, keys of other accounts and revoked keys answer 404.',
        security: access.sessionOrBearer,
        params: KeyParams,
        response: {
          200: jsonAnswer('The key is revoked.', KeyRevocation),
          // A body is parsed and ignored.
          ...errors(...READS_BODY, ...NEEDS_KEY, 'restricted_key', 'key_not_found', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<KeyRevocation> => {
      if (request.principal?.keyId !== request.params.keyId.toLowerCase()) requireUnrestricted(request.principal);
      const isRevoked = await revokeKeyEverywhere(context, accountOf(request), request.params.keyId);
      if (!isRevoked) throw new ApiError('key_not_found');
      return { revoked: true };
    },
  );
}
