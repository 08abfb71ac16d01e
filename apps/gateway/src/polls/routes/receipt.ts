import { ResultReceipt } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { PollsContext } from '../context.ts';
import { RESULT_HEADERS } from '../read/find-result.ts';
import { receiptOf } from '../read/receipt.ts';

/** GET /api/results/{resultId}/receipt: a signed statement about a poll, for anyone with its id. */
export function receiptRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Params: { resultId: string } }>(
    '/api/results/:resultId/receipt',
    {
      config: { operation: 'read', isPublic: true },
      schema: {
        operationId: 'getReceipt',
        tags: ['Results'],
        summary: 'Get the receipt of a result',
        description:
          'A statement about the poll, signed with Ed25519: the panel in asking order, every vote, the odds after each vote, and why the poll stopped. ' +
          'Everything in it can be recomputed from the votes and verified with the keys of `/.well-known/jwks.json`: ' +
          '`eloquentpoll verify` does this. It contains no costs; the owner of the poll also gets `price`.',
        security: access.sessionOrBearerOptional,
        params: Type.Object({ resultId: Type.String({ description: 'For example EP-2026-11-20-0123456789abcdef.' }) }),
        response: {
          200: jsonAnswer('The receipt.', ResultReceipt),
          ...NOT_MODIFIED,
          ...errors('result_not_found', 'receipt_not_found', 'invalid_api_key', 'not_configured'),
        },
      },
    },
    async (request, reply) => {
      const { principal } = request;
      const receipt = await receiptOf(context, request.params.resultId, principal?.accountId ?? null);
      reply
        .type('application/json; charset=utf-8')
        .header('x-robots-tag', 'noindex')
        .header('vary', 'Authorization, Cookie')
        .header('cache-control', principal === null ? RESULT_HEADERS['cache-control'] : 'private, no-store');
      return sendTagged(request, reply, JSON.stringify(receipt));
    },
  );
}
