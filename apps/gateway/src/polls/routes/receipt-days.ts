import { ReceiptDays, ReceiptDaysQuery } from '@eloquentpoll/contracts';
import { readReceiptDays, refuseMovedResult } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED } from '../../http/answers.ts';
import { sendTagged } from '../../http/send-tagged.ts';
import type { PollsContext } from '../context.ts';
import { base64url } from '../read/receipt.ts';

/** GET /api/receipts/days: the seal of each UTC day of receipts, newest first. */
export function receiptDaysRoute(app: FastifyInstance, { storage }: PollsContext): void {
  app.get<{ Querystring: ReceiptDaysQuery }>(
    '/api/receipts/days',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'listReceiptDays',
        tags: ['Results'],
        summary: 'List sealed days of receipts',
        description:
          'Each UTC day with receipts, newest first: the root of the Merkle tree of their hashes, and the seal, which is chained ' +
          'to the day before. A sealed day never changes; keep a copy to verify this.',
        security: access.none,
        querystring: ReceiptDaysQuery,
        response: { 200: jsonAnswer('The days.', ReceiptDays), ...NOT_MODIFIED, ...errors('account_moving') },
      },
    },
    async (request, reply) => {
      const { result_id, ...asked } = request.query;
      if (result_id !== undefined) await refuseMovedResult(storage, result_id);
      const days = await readReceiptDays(storage, { limit: 30, ...asked });
      const shown: ReceiptDays = {
        days: days.map(({ day, receipts, root, seal }) => ({
          day,
          receipts,
          root: base64url(root),
          seal: base64url(seal),
        })),
      };
      reply.type('application/json; charset=utf-8').header('cache-control', 'public, max-age=300');
      return sendTagged(request, reply, JSON.stringify(shown));
    },
  );
}
