import { BatchList, BatchListQuery, LIMITS } from '@eloquentpoll/contracts';
import { listBatches } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import { LAG_HEADER } from '../../http/lagging-reads.ts';
import { LINK_HEADER, pageLinks } from '../../http/page-links.ts';
import { cursorsOf } from '../../polls/read/page-cursors.ts';
import type { BatchesContext } from '../context.ts';
import { toBatch } from '../read/to-batch.ts';

/** GET /api/batches: the account's batches, newest first, with cursors. */
export function listBatchesRoute(app: FastifyInstance, { lists, config }: BatchesContext): void {
  app.get<{ Querystring: BatchListQuery }>(
    '/api/batches',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'listBatches',
        tags: ['Batches'],
        summary: 'List your batches',
        description: 'Newest first. The `Link` header points to the next and the previous page.',
        security: access.sessionOrBearer,
        querystring: BatchListQuery,
        response: {
          200: { ...jsonAnswer('One page.', BatchList), headers: { ...LINK_HEADER, ...LAG_HEADER } },
          ...errors(...NEEDS_KEY),
        },
      },
    },
    async (request, reply): Promise<BatchList> => {
      const { limit = LIMITS.batch.list.default, after, before, status } = request.query;
      if (after !== undefined && before !== undefined)
        throw invalid([{ pointer: '#/before', detail: 'before and after are opposite directions; send one of them' }]);
      const batchId = after ?? before;
      const direction = before === undefined ? 'older' : 'newer';
      const accountId = accountOf(request);
      const from = batchId === undefined ? undefined : ({ batchId, direction } as const);
      const page = await lists.ofAccount(
        accountId,
        (queries) => listBatches(queries, accountId, { limit, status, from }),
        reply,
      );
      if (!page) {
        const field = after === undefined ? 'before' : 'after';
        throw invalid([{ pointer: `#/${field}`, detail: `${field} must be the batch_id of one of your batches` }]);
      }
      const batches = page.batches.map((batch) => toBatch(config, batch));
      const last = direction === 'older' ? batches.at(-1) : batches[0];
      const goOn = page.hasMore ? (last?.batch_id ?? null) : null;
      const ids = batches.map(({ batch_id }) => ({ pollId: batch_id }));
      const list = { batches, has_more: page.hasMore, ...cursorsOf({ lines: ids, goOn }, after, before) };
      const links = pageLinks(`${config.baseUrl}/api/batches`, request, list);
      if (links) reply.header('link', links);
      return list;
    },
  );
}
