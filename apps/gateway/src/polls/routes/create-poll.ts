import { DryRunResult, PollRequest, PollResponse, QuickPollResult, ShortPollRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Operation } from '../../config/rate-limit-policies.ts';
import { access, keyRecoveryActions } from '../../http/access.ts';
import { errors, json, NEEDS_KEY, READS_BODY, text } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { closingSignal } from '../../http/closing-signal.ts';
import { prefersEventStream } from '../../http/sse/open-event-stream.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand, readAnyOrder } from '../order/any-order.ts';
import { dryRunAny } from '../order/dry-run-any.ts';
import { isFree } from '../order/poll-order.ts';
import { callerOf, wantsFree } from '../order/themes.ts';
import { wantsDryRun } from '../order/wants-dry-run.ts';
import { toQuickResult } from '../read/quick-result.ts';
import { runAndFollow } from '../run/run-and-follow.ts';
import { runAndWait } from '../run/run-and-wait.ts';

/** POST /api/poll: runs a poll and answers with its result; without credentials, a free one that is asked in short. */
export function createPoll(app: FastifyInstance, context: PollsContext): void {
  const closing = closingSignal(app);

  app.post(
    '/api/poll',
    {
      config: { operation: operationOf, idempotent: true },
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'createPoll',
        tags: ['Polling'],
        summary: 'Run a poll and wait for its result',
        description:
          'The answer comes as soon as the outcome is certain enough. A poll whose caller leaves goes on and is stored. Without credentials a poll in shorthand runs as a free quick poll; a free poll is answered like one. With `Accept: text/event-stream` the answer is the stream that `/api/poll/stream` sends.',
        security: access.sessionOrBearerOptional,
        body: Type.Union([Type.Ref(PollRequest), Type.Ref(ShortPollRequest)]),
        response: {
          200: ANSWER,
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'forbidden_origin',
            'invalid_preset',
            'insufficient_balance',
            'idempotency_key_reused',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply): Promise<PollResponse | QuickPollResult | DryRunResult | undefined> => {
      const { body, principal } = request;
      if (wantsDryRun(body) && principal) return dryRunAny(context, principal.accountId, body);
      if (!mayAsk(request)) throw needsCredentials(context);
      const ordered = readAnyOrder(body, callerOf(request));
      if (prefersEventStream(request)) return runAndFollow(context, request, reply, 'poll', ordered, closing);
      const result = await runAndWait(context, request, reply, 'poll', ordered);
      return isFree(ordered.order.panel) ? toQuickResult(context.config, result, ordered.optionsSource) : result;
    },
  );
}

const { description, content } = json(
  'The result; of a free poll or a dry run, theirs.',
  Type.Union([Type.Ref(PollResponse), Type.Ref(QuickPollResult), Type.Ref(DryRunResult)]),
);
const ANSWER = { description, content: { ...content, ...text('', 'text/event-stream').content } };

/** Without credentials only a free poll runs, and nothing else that was asked for is turned into one. */
const mayAsk = ({ principal, body }: FastifyRequest): boolean =>
  principal !== null || (isShorthand(body) && !wantsDryRun(body));

function operationOf(request: FastifyRequest): Operation {
  if (!mayAsk(request)) return 'read';
  if (wantsDryRun(request.body)) return 'compute';
  return wantsFree(request.body, callerOf(request)) ? 'free_poll' : 'poll';
}

const needsCredentials = (context: PollsContext): ApiError =>
  new ApiError('authentication_required', {
    detail: 'A full poll needs an API key or a login. POST /api/quick-poll runs a free one without credentials.',
    recovery: ['use_free_poll', ...keyRecoveryActions(context.config)],
  });
