import { DryRunRequest, DryRunResult } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { access, accountOf } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY } from '../../http/answers.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand } from '../order/any-order.ts';
import { dryRun } from '../order/dry-run.ts';
import { dryRunAny } from '../order/dry-run-any.ts';

/** POST /api/poll/dry-run: takes any JSON; faults are part of the answer, not an error. */
export function dryRunRoute(app: FastifyInstance, context: PollsContext): void {
  app.post(
    '/api/poll/dry-run',
    {
      config: { operation: 'compute', readsOnly: true, idempotent: 'by nature', reportsUncleanBody: true },
      attachValidation: true,
      schema: {
        operationId: 'dryRunPoll',
        tags: ['Polling'],
        summary: 'Check a poll without running it',
        description:
          'Every valid JSON document is answered with 200. `errors` lists the reasons why POST /api/poll (with `service_tier` `flex`: POST /api/polls) would refuse it.',
        security: access.bearer,
        body: Type.Ref(DryRunRequest),
        response: {
          200: jsonAnswer(
            'The reasons why the poll would be refused, or its estimated cost and duration.',
            DryRunResult,
          ),
          ...errors(...READS_BODY, ...NEEDS_KEY),
        },
      },
    },
    async (request): Promise<DryRunResult> => {
      const check = isShorthand(request.body) ? dryRunAny : dryRun;
      return check(context, accountOf(request), request.body);
    },
  );
}
