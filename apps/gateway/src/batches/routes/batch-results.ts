import { Readable } from 'node:stream';
import { BatchResult } from '@eloquentpoll/contracts';
import type { StoredBatch } from '@eloquentpoll/storage';
import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, textAnswer } from '../../http/answers.ts';
import { jsonLine } from '../../http/json-line.ts';
import type { BatchesContext } from '../context.ts';
import { resultLines } from '../read/result-lines.ts';
import { RESULTS_HEADER, resultAsCsv } from '../read/results-csv.ts';
import { BatchPath, ownBatch } from './batch-path.ts';

const ResultsQuery = Type.Object({
  format: Type.Optional(
    Type.Unsafe<'jsonl' | 'csv'>({
      type: 'string',
      enum: ['jsonl', 'csv'],
      description: '`jsonl`, or `csv` as with `Accept: text/csv`.',
    }),
  ),
});
type ResultsQuery = Static<typeof ResultsQuery>;

/** GET /api/batches/{batchId}/results: the rows that have ended, also while others still run. */
export function batchResultsRoute(app: FastifyInstance, context: BatchesContext): void {
  app.get<{ Params: BatchPath; Querystring: ResultsQuery }>(
    '/api/batches/:batchId/results',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getBatchResults',
        tags: ['Batches'],
        summary: 'Get the results of a batch',
        description:
          'One line for each row that has ended, with the result of its poll; once the batch has ended, one for every row: `X-Total-Count` lines, or it was cut off. Lines can be in any order; `custom_id` identifies the row.',
        security: access.sessionOrBearer,
        params: BatchPath,
        querystring: ResultsQuery,
        response: {
          200: {
            ...jsonAnswer('JSON lines, or a table.', BatchResult, 'application/jsonl'),
            content: {
              ...jsonAnswer('', BatchResult, 'application/jsonl').content,
              ...textAnswer('', 'text/csv').content,
            },
          },
          ...errors(...NEEDS_KEY, 'batch_not_found'),
        },
      },
    },
    async (request, reply) => {
      const batch = await ownBatch(context, request);
      const isCsv = request.query.format === 'csv' || (request.query.format === undefined && acceptsCsv(request));
      const chunks = isCsv ? csvOf(context, batch) : jsonlOf(context, batch);
      reply
        .header('content-type', isCsv ? 'text/csv; charset=utf-8' : 'application/jsonl')
        .header('content-disposition', `attachment; filename="${batch.id}.${isCsv ? 'csv' : 'jsonl'}"`)
        .header('cache-control', 'private, no-cache')
        .header('vary', 'Accept');
      if (batch.endedAt !== null) reply.header('x-total-count', batch.total);
      return reply.send(Readable.from(chunks, { objectMode: false }));
    },
  );
}

export const acceptsCsv = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  /(^|,)\s*text\/csv\s*(;|,|$)/i.test(accept);

async function* jsonlOf({ storage }: BatchesContext, batch: StoredBatch): AsyncGenerator<string> {
  for await (const rows of resultLines(storage, batch)) yield rows.map((row) => `${jsonLine(row)}\n`).join('');
}

async function* csvOf({ storage }: BatchesContext, batch: StoredBatch): AsyncGenerator<string> {
  yield RESULTS_HEADER;
  for await (const rows of resultLines(storage, batch)) yield rows.map(resultAsCsv).join('');
}
