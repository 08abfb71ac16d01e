import { Readable } from 'node:stream';
import { ExportLine, ExportQuery } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY } from '../../http/answers.ts';
import { invalid } from '../../http/api-error.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import type { PollsContext } from '../context.ts';
import { EXPORT_START, exportLines, readExportCursor } from '../read/export-lines.ts';

/** GET /api/export: all data of an account, as JSON lines. */
export function exportRoute(app: FastifyInstance, context: PollsContext): void {
  app.get<{ Querystring: ExportQuery }>(
    '/api/export',
    {
      config: { operation: 'account' },
      schema: {
        operationId: 'exportAccount',
        tags: ['Account'],
        summary: 'Export everything of your account',
        description:
          'One JSON object per line. Its `type` is `account`, `key` (never the key itself), `panel`, `webhook_endpoint`, `feedback`, `poll` (with its result and votes) or `transfer`. Each part is followed by a `cursor` line; the last line is `end`. To resume a broken download, send the cursor of the last `cursor` line as `?cursor=`. Ignore unknown types.',
        security: access.sessionOrBearer,
        querystring: ExportQuery,
        response: {
          200: jsonAnswer('The lines.', ExportLine, 'application/jsonl'),
          ...errors(...NEEDS_KEY),
        },
      },
    },
    async (request, reply) => {
      const { cursor } = request.query;
      const from = cursor === undefined ? EXPORT_START : readExportCursor(cursor);
      if (!from)
        throw invalid([{ pointer: '#/cursor', detail: 'cursor must be the value of a cursor line of an export' }]);
      const stop = AbortSignal.any([goneSignal(reply), context.shutdown.closing]);
      const giveBack = await context.streamSlots.take(request);
      reply.raw.once('close', giveBack);
      // The caller disconnected while the slot was taken, before the `close` listener was added.
      if (reply.raw.destroyed) giveBack();
      const lines = exportLines(context.lists, accountOf(request), from, stop);
      reply
        .header('content-type', 'application/jsonl')
        .header('content-disposition', 'attachment; filename="eloquentpoll-export.jsonl"')
        .header('cache-control', 'private, no-store');
      return reply.send(Readable.from(lines, { objectMode: false }));
    },
  );
}
