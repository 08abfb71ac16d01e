import { ApiKey } from '@eloquentpoll/contracts';
import { listKeys as keysOf } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, json, NEEDS_KEY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';

/** GET /api/keys: the caller's keys, without their plaintext. */
export function listKeys(app: FastifyInstance, { storage }: AccountsContext): void {
  app.get(
    '/api/keys',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'listKeys',
        tags: ['Account'],
        summary: 'Your API keys, active and revoked, newest first',
        description: '`last_used_at` is noted every few seconds.',
        security: access.sessionOrBearer,
        response: { 200: json('The keys.', Type.Array(Type.Ref(ApiKey))), ...errors(...NEEDS_KEY) },
      },
    },
    async (request): Promise<ApiKey[]> => {
      const keys = await keysOf(storage, accountOf(request));
      return keys.map(({ id, prefix, label, lastUsedAt, revokedAt, createdAt }) => ({
        id,
        key_prefix: prefix,
        label,
        last_used_at: lastUsedAt?.toISOString() ?? null,
        revoked_at: revokedAt?.toISOString() ?? null,
        created_at: createdAt.toISOString(),
      }));
    },
  );
}
