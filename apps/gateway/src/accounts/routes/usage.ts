import { UsageQuery, UsageReport } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, textAnswer } from '../../http/answers.ts';
import { LAG_HEADER } from '../../http/lagging-reads.ts';
import type { AccountsContext } from '../context.ts';
import { readUsageTerms, usageReport } from '../usage.ts';
import { usageCsv } from '../usage-csv.ts';

const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** GET /api/usage: the account's polls and charges, grouped. */
export function usageRoute(app: FastifyInstance, { lists }: AccountsContext): void {
  app.get<{ Querystring: UsageQuery }>(
    '/api/usage',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'getUsage',
        tags: ['Account'],
        summary: 'Get usage',
        description:
          'By the UTC day on which polls ended, at most 366 days. `format=csv` or `Accept: text/csv` returns groups and total as a table. Per day, at most 50 metadata keys with 1,000 values each are counted; further values are `(other)`.',
        security: access.sessionOrBearer,
        querystring: UsageQuery,
        response: {
          200: {
            description: 'The usage report.',
            headers: LAG_HEADER,
            content: {
              ...jsonAnswer('', UsageReport).content,
              ...textAnswer('', 'text/csv').content,
            },
          },
          ...errors(...NEEDS_KEY, 'invalid_preset'),
        },
      },
    },
    async (request, reply) => {
      const accountId = accountOf(request);
      const terms = readUsageTerms(request.query);
      const usage = await lists.ofAccount(accountId, (queries) => usageReport(queries, accountId, terms), reply);
      if (!wantsCsv(request.query.format, request.headers.accept)) return usage;
      reply.type(CSV_TYPE).headers({
        vary: 'Accept',
        'content-disposition': `attachment; filename="eloquentpoll-usage-${usage.from}-${usage.to}.csv"`,
      });
      return usageCsv(usage);
    },
  );
}

const wantsCsv = (format: UsageQuery['format'], accept = ''): boolean =>
  format === undefined ? /\btext\/csv\b/.test(accept) : format === 'csv';
