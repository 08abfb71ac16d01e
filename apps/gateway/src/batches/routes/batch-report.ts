import { BatchReport } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import type { BatchesContext } from '../context.ts';
import { batchReport } from '../report/count-rows.ts';
import { BatchPath, ownBatch } from './batch-path.ts';

/** Retry-After while rows of an ended batch are still being counted. */
const RETRY_AFTER_S = 1;

/** GET /api/batches/{batchId}/report: how the batch's answers compare with its gold. */
export function batchReportRoute(app: FastifyInstance, context: BatchesContext): void {
  app.get<{ Params: BatchPath }>(
    '/api/batches/:batchId/report',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getBatchReport',
        tags: ['Batches'],
        summary: 'Get the report of a batch',
        description:
          'For rows with `gold`: right answers, agreement, calibration and cost per right answer, the same for each model on its own, and the results that other thresholds would have had, replayed from the votes. While rows are running or not yet counted, `complete` is false and the figures cover the first rows; for a batch that has ended, `Retry-After` says when more rows will be counted. Figures that the votes do not show are null.',
        security: access.sessionOrBearer,
        params: BatchPath,
        response: {
          200: jsonAnswer('The report, partial unless `complete`.', BatchReport),
          ...errors(...NEEDS_KEY, 'batch_not_found', 'report_not_found'),
        },
      },
    },
    async (request, reply): Promise<BatchReport> => {
      const batch = await ownBatch(context, request);
      if (!batch.hasGold) throw new ApiError('report_not_found');
      const report = await batchReport(context.storage, batch);
      reply.header('cache-control', 'private, no-cache');
      if (!report.complete && batch.endedAt !== null) reply.header('retry-after', String(RETRY_AFTER_S));
      return report;
    },
  );
}
