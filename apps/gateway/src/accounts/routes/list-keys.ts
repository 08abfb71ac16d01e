import { ApiKey, KeyParams } from '@eloquentpoll/contracts';
import { listKeys, MAX_KEYS_PER_PAGE, ownsKey, readKeySpend } from '@eloquentpoll/storage';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import type { AccountsContext } from '../context.ts';
import { toApiKey } from '../keys/to-wire.ts';

const PAGE = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_KEYS_PER_PAGE, default: MAX_KEYS_PER_PAGE })),
  after: Type.Optional(KeyParams.properties.keyId),
});

const LINK = { link: { type: 'string', description: 'The next page (`rel="next"`), if there is one.' } };

/** GET /api/keys: the caller's keys, without their plaintext. */
export function listKeysRoute(app: FastifyInstance, { storage, config }: AccountsContext): void {
  app.get<{ Querystring: Static<typeof PAGE> }>(
    '/api/keys',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'listKeys',
        tags: ['Account'],
        summary: 'List API keys',
        description:
          '`last_used_at` is updated every few seconds. If there are more keys than `limit`, the `Link` header points to the next page.',
        security: access.sessionOrBearer,
        querystring: PAGE,
        response: {
          200: { ...jsonAnswer('The keys.', Type.Array(Type.Ref(ApiKey))), headers: LINK },
          ...errors(...NEEDS_KEY),
        },
      },
    },
    async (request, reply): Promise<ApiKey[]> => {
      const accountId = accountOf(request);
      const { limit = MAX_KEYS_PER_PAGE, after } = request.query;
      if (after !== undefined && !(await ownsKey(storage, accountId, after))) {
        throw invalid([{ pointer: '#/after', detail: 'after must be the id of one of your keys' }]);
      }
      // One more than requested, to know whether there is a next page.
      const found = await listKeys(storage, accountId, { after, limit: limit + 1 });
      const keys = found.slice(0, limit);
      const last = keys.at(-1);
      if (found.length > limit && last) {
        reply.header('link', `<${config.baseUrl}/api/keys?limit=${limit}&after=${last.id}>; rel="next"`);
      }
      const spend = await readKeySpend(storage, accountId);
      return keys.map((key) => toApiKey(key, spend.get(key.id)));
    },
  );
}
