import { FreePollRequest, QuickPollRequest, QuickPollResult } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import { access } from '../../http/access.ts';
import { errors, jsonAnswer, READS_BODY, textAnswer } from '../../http/answers.ts';
import { prefersEventStream } from '../../http/sse/open-event-stream.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { freeOrder, isRefused, readFree } from '../order/free-reading.ts';
import { runsFreePolls } from '../order/runs-free-polls.ts';
import { readShortOrder } from '../order/short-order.ts';
import { type CallerKind, callerOf } from '../order/themes.ts';
import { refuseDryRun } from '../order/wants-dry-run.ts';
import { toQuickResult } from '../read/quick-result.ts';
import { NO_MORE_EVENTS, resumeBudget, resumeForCaller, resumesStream, StreamHeaders } from '../run/last-event-id.ts';
import { runAndWait } from '../run/run-and-wait.ts';
import { streamPoll } from '../run/stream-poll.ts';
import { submissionOf } from '../run/submission.ts';

const { description, content } = jsonAnswer('The answer; null for a tie and without votes.', QuickPollResult);
const ANSWER = { description, content: { ...content, ...textAnswer('', 'text/event-stream').content } };

const FREE =
  'Without an API key, or with the themes `free` and `free_search`, open-weight models vote, limits are lower, and the response contains the address of the public result.';

function budgetOf(request: FastifyRequest, caller: CallerKind = callerOf(request)): BudgetName {
  request.freeReading = readFree(request.body, caller);
  if (resumesStream(request)) return resumeBudget(caller);
  if (isRefused(request.freeReading)) return 'compute';
  return request.freeReading ? 'free_poll' : 'poll';
}

/** POST /api/quick-poll: the shortest way to a poll, free without an account. */
export function quickPollRoute(app: FastifyInstance, context: PollsContext): void {
  const isFree = runsFreePolls(context);
  app.decorateRequest('freeReading', null);
  app.post(
    '/api/quick-poll',
    {
      config: {
        operation: budgetOf,
        idempotent: true,
      },
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'quickPoll',
        tags: ['Polling'],
        summary: isFree ? 'Quick poll (free without a key)' : 'Quick poll',
        description: `A question is enough. With \`Accept: text/event-stream\`, the response is the stream of \`/api/poll/stream\`, and \`Last-Event-ID\` continues it: send the same body. ${isFree ? FREE : 'This installation has no open-weight models, so an API key is needed.'}`,
        security: access.bearerOptional,
        headers: StreamHeaders,
        body: Type.Union([Type.Ref(QuickPollRequest), Type.Ref(FreePollRequest)]),
        response: {
          200: ANSWER,
          204: NO_MORE_EVENTS,
          ...errors(
            ...READS_BODY,
            'invalid_preset',
            'invalid_api_key',
            'insufficient_balance',
            'too_many_running',
            'provider_budget_reached',
            'polls_stopped',
            'not_configured',
            'session_not_found',
            'idempotency_key_reused',
            'poll_canceled',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply): Promise<QuickPollResult | FastifyReply | undefined> => {
      refuseDryRun(request.body);
      const ordered = freeOrder(request) ?? readShortOrder(request.body, callerOf(request));
      if (resumesStream(request)) return resumeForCaller(context, request, reply, ordered.optionsSource);
      const submission = submissionOf(context, request, 'quick-poll', ordered);
      if (prefersEventStream(request)) {
        return streamPoll(context, request, reply, submission, { quickResultOf: ordered.optionsSource });
      }
      const result = await runAndWait(context, reply, submission);
      return toQuickResult(context.config, result, ordered.optionsSource);
    },
  );
}
