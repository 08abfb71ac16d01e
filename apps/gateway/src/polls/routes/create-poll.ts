import { DryRunResult, PollRequest, PollResponse, QuickPollResult } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import { access, keyRecoveryActions } from '../../http/access.ts';
import { errors, jsonAnswer, NEEDS_KEY, READS_BODY, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { prefersEventStream } from '../../http/sse/open-event-stream.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../context.ts';
import { isShorthand, readAnyOrder } from '../order/any-order.ts';
import { dryRunAny } from '../order/dry-run-any.ts';
import { freeOrder, isRefused, readFree } from '../order/free-reading.ts';
import { runsFreePolls } from '../order/runs-free-polls.ts';
import { type CallerKind, callerOf, wantsFree } from '../order/themes.ts';
import { wantsDryRun } from '../order/wants-dry-run.ts';
import { toQuickResult } from '../read/quick-result.ts';
import { NO_MORE_EVENTS, resumeBudget, resumeForCaller, resumesStream, StreamHeaders } from '../run/last-event-id.ts';
import { runAndWait } from '../run/run-and-wait.ts';
import { streamPoll } from '../run/stream-poll.ts';
import { submissionOf } from '../run/submission.ts';

/** What a request asks for. Decided once, from the unchecked body and whether the caller is known. */
type Kind = 'poll' | 'free_poll' | 'dry_run' | 'credentials_missing';

const BUDGETS: Readonly<Record<Kind, BudgetName>> = {
  poll: 'poll',
  free_poll: 'free_poll',
  dry_run: 'compute',
  credentials_missing: 'read',
};

declare module 'fastify' {
  interface FastifyRequest {
    pollKind: Kind | null;
  }
}

/** POST /api/poll: runs a poll and answers with its result; without credentials, a free one in shorthand. */
export function createPollRoute(app: FastifyInstance, context: PollsContext): void {
  app.decorateRequest('pollKind', null);
  app.post(
    '/api/poll',
    {
      config: { operation: budgetOf, idempotent: true },
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'createPoll',
        tags: ['Polling'],
        summary: 'Run a poll',
        description: `Responds as soon as the outcome is certain enough. If the caller disconnects, the poll continues and is stored. Also accepts the shorthand of \`/api/quick-poll\`${runsFreePolls(context) ? ' (without credentials, it runs as a free poll)' : ''} and \`dry_run\`. With \`Accept: text/event-stream\`, the response is the stream of \`/api/poll/stream\`, and \`Last-Event-ID\` continues it.`,
        security: access.sessionOrBearerOptional,
        headers: StreamHeaders,
        body: Type.Ref(PollRequest),
        response: {
          200: ANSWER,
          204: NO_MORE_EVENTS,
          ...errors(
            ...READS_BODY,
            ...NEEDS_KEY,
            'forbidden_origin',
            'invalid_preset',
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
    async (request, reply): Promise<PollResponse | QuickPollResult | DryRunResult | FastifyReply | undefined> => {
      const { body, pollKind } = request;
      if (resumesStream(request)) {
        return resumeForCaller(context, request, reply, freeOrder(request)?.optionsSource);
      }
      if (pollKind === 'credentials_missing') throw credentialsMissing(context);
      if (pollKind === 'dry_run') return dryRunAny(context, request.principal?.accountId ?? null, body);
      const free = freeOrder(request);
      const ordered = free ?? readAnyOrder(body, callerOf(request));
      const submission = submissionOf(context, request, 'poll', ordered);
      if (prefersEventStream(request)) {
        return streamPoll(context, request, reply, submission, { quickResultOf: free?.optionsSource });
      }
      const result = await runAndWait(context, reply, submission);
      return free ? toQuickResult(context.config, result, ordered.optionsSource) : result;
    },
  );
}

const { description, content } = jsonAnswer(
  'The result. For a free poll, the response is that of `/api/quick-poll`; for a dry run, that of `/api/poll/dry-run`.',
  Type.Union([Type.Ref(PollResponse), Type.Ref(QuickPollResult), Type.Ref(DryRunResult)]),
);
const ANSWER = {
  description,
  documented: Type.Ref(PollResponse),
  content: { ...content, ...textAnswer('', 'text/event-stream').content },
};

/** Callers without credentials get free polls only; no other request is turned into a free poll. */
function classify(body: unknown, caller: CallerKind): Kind {
  if (caller === 'anonymous' && !isShorthand(body)) return 'credentials_missing';
  if (wantsDryRun(body)) return 'dry_run';
  return wantsFree(body, caller) ? 'free_poll' : 'poll';
}

/** Runs before the handler and stores the kind for it. */
function budgetOf(request: FastifyRequest, caller: CallerKind = callerOf(request)): BudgetName {
  request.pollKind = classify(request.body, caller);
  if (request.pollKind === 'free_poll') request.freeReading = readFree(request.body, caller);
  if (resumesStream(request)) return resumeBudget(caller);
  return isRefused(request.freeReading) ? 'compute' : BUDGETS[request.pollKind];
}

const credentialsMissing = (context: PollsContext): ApiError =>
  new ApiError('authentication_required', {
    detail: `A full poll needs an API key or a login.${runsFreePolls(context) ? ' POST /api/quick-poll runs a free one without credentials.' : ''}`,
    recovery: [...(runsFreePolls(context) ? (['use_free_poll'] as const) : []), ...keyRecoveryActions(context)],
  });
