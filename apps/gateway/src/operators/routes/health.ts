import { Health } from '@eloquentpoll/contracts';
import { withTimeout } from '@eloquentpoll/ops';
import { findPoll } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { access } from '../../http/access.ts';
import { errors, jsonAnswer } from '../../http/answers.ts';
import type { OperatorsContext } from '../context.ts';

/** GET /api/health, with a time-limited read of the database. */
export function healthRoute(app: FastifyInstance, context: OperatorsContext): void {
  app.get(
    '/api/health',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getHealth',
        tags: ['System'],
        summary: 'Get health',
        security: access.none,
        response: { 200: jsonAnswer('The service is up; `db` says whether its database is.', Health), ...errors() },
      },
    },
    async (): Promise<Health> => ({
      status: 'ok',
      db: await databaseStatus(context),
      version: packageJson.version,
      git_commit: context.config.gitCommit,
      timestamp: new Date().toISOString(),
    }),
  );
}

const TIMEOUT_MS = 1_000;

async function databaseStatus({ storage, log }: OperatorsContext): Promise<Health['db']> {
  try {
    // A query of the polls table by primary key, for a poll that does not exist.
    await withTimeout(findPoll(storage, 'ps_health'), TIMEOUT_MS);
    return 'ok';
  } catch (error) {
    log.warn({ err: error }, 'health.database_unavailable');
    return 'error';
  }
}
