import { type Issue, isJsonObject } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import { ApiError, invalid } from '../../http/api-error.ts';
import type { PollsContext } from '../../polls/context.ts';
import { readPollOrder } from '../../polls/order/poll-order.ts';
import { readShortOrder } from '../../polls/order/short-order.ts';
import type { CallerKind } from '../../polls/order/themes.ts';
import { refuseDryRun } from '../../polls/order/wants-dry-run.ts';
import { withoutNull } from '../without-null.ts';
import { type AnswerForm, type ChatChoice, readChoice } from './choice.ts';
import { readMessages } from './messages.ts';
import { isFreeModel, offeredModels, panelOfModel } from './models.ts';
import { parameterIssues } from './parameters.ts';

// Reads a chat request into an order, by the rules for all orders. Its issues name the caller's own members.

export interface AskedByChat {
  model: string;
  order: PollOrder;
  form: AnswerForm;
  /** Null if the answer is sent as a whole. */
  stream: { includeUsage: boolean } | null;
}

export function readChatRequest(context: Pick<PollsContext, 'panels'>, body: unknown, caller: CallerKind): AskedByChat {
  if (!isJsonObject(body)) throw invalid([{ pointer: '#', detail: 'the request must be an object' }]);
  refuseDryRun(body);
  const issues = [...parameterIssues(body), ...streamIssues(body)];
  if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES));
  const panel = panelOfModel(offeredModels(context), body.model);
  const choice = readChoice(body, readMessages(body.messages));
  const { confidence_threshold, max_cost_usd, reasons, metadata, expires_in } = withoutNull(body);
  const { question, options } = choice;
  // Some clients send metadata with every request: without an account it is ignored, not refused.
  const kept = caller === 'anonymous' ? undefined : metadata;
  const poll = { question, options, confidence_threshold, max_cost_usd, reasons, metadata: kept, expires_in };
  const order = inOwnMembers(choice, () =>
    isFreeModel(body.model)
      ? readShortOrder(withoutNull({ ...poll, theme: 'free' }), caller).order
      : readPollOrder(withoutNull({ ...poll, preset: panel })),
  );
  const includeUsage = isJsonObject(body.stream_options) && body.stream_options.include_usage === true;
  return {
    model: String(body.model),
    order,
    form: choice.form,
    stream: body.stream === true ? { includeUsage } : null,
  };
}

const MAX_ISSUES = 20;

function streamIssues({ stream, stream_options: options }: Record<string, unknown>): Issue[] {
  const isMissing = (value: unknown): boolean => value === undefined || value === null;
  return [
    ...(isMissing(stream) || typeof stream === 'boolean'
      ? []
      : [{ pointer: '#/stream', detail: 'stream must be a boolean' }]),
    ...(isMissing(options) || isJsonObject(options)
      ? []
      : [{ pointer: '#/stream_options', detail: 'stream_options must be an object' }]),
  ];
}

/** Makes issues of `question` and `options` name the members that contained them. */
function inOwnMembers({ field }: ChatChoice, read: () => PollOrder): PollOrder {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError) || !error.circumstances.issues) throw error;
    const issues = error.circumstances.issues.map(({ pointer, detail }) => {
      const [, member = ''] = pointer.split('/');
      const own = member === 'question' ? '#/messages' : member === 'options' ? `#/${field}` : pointer;
      return { pointer: own, detail };
    });
    throw invalid(issues, error.code);
  }
}
