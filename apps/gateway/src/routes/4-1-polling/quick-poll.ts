import { FreePollRequest, QuickPollRequest, QuickPollResult } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import { invalid } from '../../api-error.ts';
import type { Context } from '../../context.ts';
import { access } from '../../plugins/auth.ts';
import { wantsDryRun } from '../../polls/any-order.ts';
import { toQuickResult } from '../../polls/quick-result.ts';
import { readShortOrder } from '../../polls/short-order.ts';
import { callerOf, wantsFree } from '../../polls/themes.ts';
import { compileExceptBody } from '../../validation/validator.ts';
import { errors, json, READS_BODY } from '../answers.ts';
import { runAndWait } from '../run-and-wait.ts';

/** Whoever asks for one does not want to pay, so the field is not ignored. */
const NO_DRY_RUN = { pointer: '#/dry_run', detail: 'dry_run is not known here; POST /api/poll takes it' };

/** POST /api/quick-poll: the shortest way to a poll, free without an account. */
export function quickPoll(app: FastifyInstance, context: Context): void {
  app.post(
    '/api/quick-poll',
    {
      config: {
        operation: (request) => (wantsFree(request.body, callerOf(request)) ? 'free_poll' : 'poll'),
        idempotent: true,
      },
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'quickPoll',
        tags: ['Polling'],
        summary: 'Ask in shorthand; free without an API key',
        description:
          'A question is enough. Without an API key, or with the themes `free` and `free_search`, open-weight models vote, the limits are tighter and the answer says where its public result is.',
        security: access.bearerOptional,
        body: Type.Union([Type.Ref(QuickPollRequest), Type.Ref(FreePollRequest)]),
        response: {
          200: json('The answer; null on a tie and without votes.', QuickPollResult),
          ...errors(
            ...READS_BODY,
            'invalid_preset',
            'invalid_api_key',
            'insufficient_balance',
            'idempotency_key_reused',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply): Promise<QuickPollResult> => {
      if (wantsDryRun(request.body)) throw invalid([NO_DRY_RUN]);
      const short = readShortOrder(request.body, callerOf(request));
      const result = await runAndWait(context, request, reply, 'quick-poll', short);
      return toQuickResult(context.config, result, short.optionsSource);
    },
  );
}
