import { KeyRequest, NewKey } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf, requireUnrestricted } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { AccountsContext } from '../context.ts';
import { createKey, toNewKey } from '../keys/issue-key.ts';
import { readKeyTerms } from '../keys/read-key-terms.ts';

/** POST /api/keys. Only this answer contains the plaintext. */
export function createKeyRoute(app: FastifyInstance, context: AccountsContext): void {
  app.post<{ Body: KeyRequest }>(
    '/api/keys',
    {
      config: { operation: 'key_issue' },
      // The body is optional.
      preValidation: async (request) => {
        if (request.body === undefined) request.body = {};
      },
      schema: {
        operationId: 'createKey',
        tags: ['Account'],
        summary: 'Create an API key',
        description:
          'The complete key is shown only in this response. Therefore an Idempotency-Key is refused here: to keep the response for a retry, the key would have to be stored. If the response was lost, revoke the new key in GET /api/keys and create another. A key that has a limit, expires or is read-only cannot create keys.',
        security: access.sessionOrBearer,
        body: Type.Ref(KeyRequest),
        response: {
          201: jsonAnswer('The key.', NewKey),
          ...errors(...READS_BODY, ...NEEDS_KEY, 'restricted_key', 'forbidden_origin', 'key_limit_reached'),
        },
      },
    },
    async (request, reply): Promise<NewKey> => {
      requireUnrestricted(request.principal);
      const { label = '', ...rest } = request.body;
      const terms = { accountId: accountOf(request), ...readKeyTerms(rest), label };
      const issued = await createKey(context, terms, request.principal ?? {});
      reply.code(201);
      return toNewKey(issued);
    },
  );
}
