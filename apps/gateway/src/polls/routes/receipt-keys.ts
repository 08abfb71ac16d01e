import { ReceiptKeys } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { PollsContext } from '../context.ts';
import { requireSigner } from '../read/receipt.ts';

/** GET /.well-known/jwks.json: the public keys of receipts. The identity provider's keys are at its own `jwks_uri`. */
export function receiptKeysRoute(app: FastifyInstance, { receipts }: PollsContext): void {
  app.get(
    '/.well-known/jwks.json',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getReceiptKeys',
        tags: ['Results'],
        summary: 'Get the public keys of receipts',
        description:
          'The first key signs new receipts; the others signed earlier ones. Tokens of the identity provider have other keys.',
        security: access.none,
        response: {
          200: jsonAnswer('A JWK set.', ReceiptKeys),
          ...NOT_MODIFIED,
          ...errors('not_configured'),
        },
      },
    },
    async (request, reply) => {
      const { keys } = requireSigner(receipts);
      const set: ReceiptKeys = { keys: keys.map((key) => ({ ...key, use: 'sig', alg: 'EdDSA' })) };
      reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=3600');
      return sendTagged(request, reply, JSON.stringify(set));
    },
  );
}
