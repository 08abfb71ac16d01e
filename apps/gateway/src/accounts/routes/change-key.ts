import { ApiKey, KeyChange, KeyParams } from '@eloquentpoll/contracts';
import { changeKey, inTransaction, NoLimitToReset, readKeySpend } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { futureTime, limitU, resetWithoutLimit } from '../keys/read-key-terms.ts';
import { isKeyId } from '../keys/revoke-key.ts';
import { toApiKey } from '../keys/to-wire.ts';

/** PATCH /api/keys/{keyId}. Once it has answered, every gateway applies the new terms. */
export function changeKeyRoute(app: FastifyInstance, { storage, keys }: AccountsContext): void {
  app.patch<{ Params: KeyParams; Body: KeyChange }>(
    '/api/keys/:keyId',
    {
      config: { operation: 'account' },
      // A malformed id is 404, not a validation error.
      preValidation: async ({ params }) => {
        if (!isKeyId(params.keyId)) throw new ApiError('key_not_found');
      },
      schema: {
        operationId: 'changeKey',
        tags: ['Account'],
        summary: 'Change an API key',
        description:
          'Fields that are left out stay as they are; null removes `limit_usd` or `expires_at`. What the key has spent in the current period counts towards a new limit. A key that has a limit, expires or is read-only cannot change keys.',
        security: access.sessionOrBearer,
        params: KeyParams,
        body: Type.Ref(KeyChange),
        response: {
          200: jsonAnswer('The changed key.', ApiKey),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'restricted_key', 'key_not_found', 'forbidden_origin'),
        },
      },
    },
    async (request): Promise<ApiKey> => {
      requireUnrestricted(request.principal);
      const accountId = accountOf(request);
      const { keyId } = request.params;
      const { label, read_only: isReadOnly, expires_at, limit_usd, limit_reset } = request.body;
      const expiresAt = typeof expires_at === 'string' ? futureTime(expires_at) : expires_at;
      const limit =
        limit_usd === undefined && limit_reset === undefined
          ? undefined
          : {
              ...(limit_usd !== undefined && { limitU: limit_usd === null ? null : limitU(limit_usd) }),
              ...(limit_reset !== undefined && { reset: limit_reset }),
            };
      const change = { label, expiresAt, isReadOnly, limit };
      const changed = await inTransaction(storage, (tx) => changeKey(tx, { accountId, keyId }, change)).catch(
        (error) => {
          throw error instanceof NoLimitToReset ? resetWithoutLimit() : error;
        },
      );
      if (!changed) throw new ApiError('key_not_found');
      await keys.invalidate(changed.hash);
      const spend = await readKeySpend(storage, accountId);
      return toApiKey(changed.key, spend.get(changed.key.id));
    },
  );
}
