import { isBatchId } from '@eloquentpoll/polls';
import { findBatch } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import { batchReport } from '../../batches/report/count-rows.ts';
import { BatchPath } from '../../batches/routes/batch-path.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { access } from '../../http/access.ts';
import { errors, orPage, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { PagesContext } from '../context.ts';
import { reportPage } from '../dashboard/report/report-page.ts';
import { HTML_TYPE, PAGE_HEADERS } from '../layout.ts';
import { signInPage } from '../sign-in-page.ts';

/** GET /dashboard/batches/{batchId}/report: the report of a batch as a page. */
export function dashboardReportRoute(app: FastifyInstance, context: PagesContext, facts: Facts): void {
  app.get<{ Params: BatchPath }>(
    '/dashboard/batches/:batchId/report',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getDashboardBatchReport',
        tags: ['System'],
        summary: 'Report of a batch as a page',
        security: access.sessionOptional,
        params: BatchPath,
        response: {
          200: textAnswer('The page.', 'text/html'),
          ...orPage(errors('authentication_required', 'account_frozen', 'batch_not_found', 'report_not_found')),
        },
      },
    },
    async ({ principal, params: { batchId }, url }, reply) => {
      reply.type(HTML_TYPE).headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' });
      if (!principal) return reply.code(401).send(signInPage(facts, url));
      const batch = isBatchId(batchId) ? await findBatch(context.storage, principal.accountId, batchId) : null;
      if (!batch) throw new ApiError('batch_not_found');
      if (!batch.hasGold) throw new ApiError('report_not_found');
      return reportPage(facts, await batchReport(context.storage, batch));
    },
  );
}
