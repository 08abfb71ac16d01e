import { setTimeout as wait } from 'node:timers/promises';
import { Health } from '@eloquentpoll/contracts';
import { findPoll } from '@eloquentpoll/storage';
import type { FastifyInstance } from 'fastify';
import packageJson from '../../../package.json' with { type: 'json' };
import { access } from '../../http/access.ts';
import { errors, json } from '../../http/answers.ts';
import type { OperatorsContext } from '../context.ts';

/** GET /api/health: asks the database, and does not wait long for it. */
export function health(app: FastifyInstance, context: OperatorsContext): void {
  app.get(
    '/api/health',
    {
      config: { operation: 'read' },
      schema: {
        operationId: 'getHealth',
        tags: ['System'],
        summary: 'Whether the service and its database answer',
        security: access.none,
        response: { 200: json('The service answers; `db` says whether its database does.', Health), ...errors() },
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

const PATIENCE_MS = 1_000;

async function databaseStatus({ storage, log }: OperatorsContext): Promise<Health['db']> {
  try {
    // A read of the table that matters, by its key; there is no such poll.
    await Promise.race([findPoll(storage, 'ps_health'), tooLate()]);
    return 'ok';
  } catch (error) {
    log.warn({ err: error }, 'database not healthy');
    return 'error';
  }
}

async function tooLate(): Promise<never> {
  await wait(PATIENCE_MS, undefined, { ref: false });
  throw new Error(`the database did not answer within ${PATIENCE_MS} ms`);
}
