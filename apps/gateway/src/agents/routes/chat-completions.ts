import { ChatCompletion, ChatCompletionRequest } from '@eloquentpoll/contracts';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { BudgetName } from '../../config/rate-limit-policies.ts';
import { access, keyRecoveryActions } from '../../http/access.ts';
import { jsonAnswer, READS_BODY, textAnswer } from '../../http/answers.ts';
import { ApiError } from '../../http/api-error.ts';
import { chatErrors } from '../../http/chat-errors.ts';
import { goneSignal } from '../../http/gone-signal.ts';
import { markReplayed } from '../../http/hooks/idempotency-key.ts';
import { compileExceptBody } from '../../http/validation/validator.ts';
import type { PollsContext } from '../../polls/context.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { type CallerKind, callerOf } from '../../polls/order/themes.ts';
import { whyFailed } from '../../polls/read/why-failed.ts';
import { awaitPoll } from '../../polls/run/await-poll.ts';
import { submissionOf } from '../../polls/run/submission.ts';
import { toCompletion } from '../chat/completion.ts';
import { joiningLeftPoll, noteLeftPoll } from '../chat/left-polls.ts';
import { isFreeModel, isPaidModel } from '../chat/models.ts';
import { type AskedByChat, readChatRequest } from '../chat/read-request.ts';
import { streamCompletion } from '../chat/stream-completion.ts';

const { description, content } = jsonAnswer('The winner, in the requested form.', ChatCompletion);
const ANSWER = { description, content: { ...content, ...textAnswer('', 'text/event-stream').content } };

declare module 'fastify' {
  interface FastifyRequest {
    /** Read before the budget is chosen, so that a request refused for its body uses up no poll. */
    chatReading: { asked: AskedByChat } | { refusal: ApiError } | null;
  }
}

/** POST /v1/chat/completions: a poll for clients of the OpenAI API. */
export function chatCompletionsRoute(app: FastifyInstance, context: PollsContext): void {
  app.decorateRequest('chatReading', null);
  app.post(
    '/v1/chat/completions',
    {
      config: { operation: budgetIn(context), idempotent: true },
      validatorCompiler: compileExceptBody,
      schema: {
        operationId: 'createChatCompletion',
        tags: ['Chat'],
        summary: 'Poll as a chat completion',
        description:
          'For clients of the OpenAI API. The system messages and the last message, which must be a user message, are the question. The options are the `enum` of one string property in `response_format` (`json_schema`) or in the parameters of the tool that `tool_choice` names, or they are in brackets at the end of the text: `Which is larger? [A, B]`. The winner is returned as content, JSON or tool call; a tie is a `refusal`. Sampling parameters, `user` and `store` have no effect. `metadata` is stored with the poll of an account. Parameters that would change the outcome are refused, and the error names them. With `stream`, the response is a stream of `chat.completion.chunk` events.',
        security: access.bearerOptional,
        body: Type.Ref(ChatCompletionRequest),
        response: {
          200: ANSWER,
          ...chatErrors(
            ...READS_BODY,
            'authentication_required',
            'invalid_api_key',
            'insufficient_scope',
            'model_not_found',
            'insufficient_balance',
            'too_many_running',
            'provider_budget_reached',
            'polls_stopped',
            'idempotency_key_reused',
            'poll_failed',
            'budget_too_small',
            'poll_execution_failed',
          ),
        },
      },
    },
    async (request, reply): Promise<ChatCompletion | undefined> => {
      if (needsKey(request, callerOf(request))) throw keyMissing(context);
      const { model, order, form, stream } = askedIn(request);
      const asked = submissionOf(context, request, 'chat', { order });
      if (stream) return streamCompletion(context, request, reply, asked, { model, form, ...stream });
      const submission = await joiningLeftPoll(context, asked);
      const gone = goneSignal(reply);
      const ended = await awaitPoll(context, submission, gone).catch(async (error: unknown) => {
        // A caller who left got no answer after which to retry, unless this request was itself a retry.
        if (!gone.aborted || submission.joins !== undefined) await noteLeftPoll(context, submission, error);
        throw error;
      });
      if (ended.joined) markReplayed(reply);
      if (ended.result.status === 'failed') {
        const { code, detail } = whyFailed(ended.result);
        throw new ApiError(code, detail === undefined ? {} : { detail });
      }
      return toCompletion(context.config, ended, { model, form });
    },
  );
}

/** Takes any body, valid or not. */
const modelOf = ({ body }: FastifyRequest): unknown =>
  typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined;

const needsKey = (request: FastifyRequest, caller: CallerKind): boolean =>
  caller === 'anonymous' && isPaidModel(modelOf(request));

const budgetIn =
  (context: PollsContext) =>
  (request: FastifyRequest, caller: CallerKind = callerOf(request)): BudgetName => {
    if (needsKey(request, caller)) return 'read';
    request.chatReading = readAny(context, request, caller);
    if ('refusal' in request.chatReading) return 'compute';
    return isFreeModel(modelOf(request)) ? 'free_poll' : 'poll';
  };

function readAny(
  context: PollsContext,
  { body }: FastifyRequest,
  caller: CallerKind,
): NonNullable<FastifyRequest['chatReading']> {
  try {
    return { asked: readChatRequest(context, body, caller) };
  } catch (error) {
    if (error instanceof ApiError) return { refusal: error };
    throw error;
  }
}

function askedIn({ chatReading }: FastifyRequest): AskedByChat {
  if (chatReading === null) throw new Error('the budget of a chat request is known once it is read');
  if ('refusal' in chatReading) throw chatReading.refusal;
  return chatReading.asked;
}

const keyMissing = (context: PollsContext): ApiError =>
  new ApiError('authentication_required', {
    detail: `This model needs an API key as a bearer token${runsFreePolls(context) ? '; eloquentpoll/free needs none' : ''}.`,
    recovery: keyRecoveryActions(context),
  });
