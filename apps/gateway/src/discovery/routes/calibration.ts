import { PublishedCalibration } from '@eloquentpoll/contracts';
import type { FastifyInstance } from 'fastify';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, NOT_MODIFIED, textAnswer } from '../../http/answers.ts';
import { sendPublicText } from '../../http/send-tagged.ts';
import type { Calibrations } from '../calibrations.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

/** GET /api/calibration and /api/calibration.csv. */
export function calibrationRoutes(app: FastifyInstance, snapshot: Calibrations): void {
  const csvAnswer = textAnswer('One row for the stops of each group of polls, and one for each band.', 'text/csv');
  app.get(
    '/api/calibration',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getCalibration',
        tags: ['System'],
        summary: 'Get the calibration',
        description:
          'Stated confidence compared with how often it proved right, over audited polls. Updated every five minutes. Rates without data are null. `Accept: text/csv` returns the same as a table.',
        security: access.none,
        response: {
          200: {
            description: 'The figures.',
            content: { ...jsonAnswer('', PublishedCalibration).content, ...csvAnswer.content },
          },
          ...NOT_MODIFIED,
          ...errors(),
        },
      },
    },
    async (request, reply) => {
      const { value } = await snapshot();
      const isCsv = /\btext\/csv\b/.test(request.headers.accept ?? '');
      reply.headers({ 'cache-control': 'public, max-age=300', vary: 'Accept' });
      return sendPublicText(request, reply.type(isCsv ? CSV_TYPE : JSON_TYPE), isCsv ? value.csv : value.json);
    },
  );
  app.get(
    '/api/calibration.csv',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getCalibrationTable',
        tags: ['System'],
        summary: 'Get the calibration as a table',
        description: 'The figures of GET /api/calibration.',
        security: access.none,
        response: { 200: csvAnswer, ...NOT_MODIFIED, ...errors() },
      },
    },
    async (request, reply) => {
      const { value } = await snapshot();
      reply.headers({
        'cache-control': 'public, max-age=300',
        'content-disposition': 'inline; filename="eloquentpoll-calibration.csv"',
      });
      return sendPublicText(request, reply.type(CSV_TYPE), value.csv);
    },
  );
}
