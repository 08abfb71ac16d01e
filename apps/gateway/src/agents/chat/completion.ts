import type { ChatAnswer, ChatCompletion, ChatPoll, PollResponse } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { Config } from '../../config/config.ts';
import { pageUrl } from '../../polls/read/to-wire.ts';
import type { AnswerForm } from './choice.ts';

// The result of a poll as a chat completion. A tie has no winner, and none is invented: it becomes a refusal, by which
// the OpenAI API reports that a schema was not filled.

export interface Answered {
  message: ChatAnswer;
  finish_reason: 'stop' | 'tool_calls';
}

export const completionId = (pollId: string): string => `chatcmpl-${pollId}`;

export const nowInSeconds = (): number => Math.floor(Date.now() / 1_000);

export function toCompletion(
  config: Config,
  { pollId, result }: { pollId: string; result: PollResponse },
  { model, form }: { model: string; form: AnswerForm },
): ChatCompletion {
  return {
    id: completionId(pollId),
    object: 'chat.completion',
    created: nowInSeconds(),
    model,
    choices: [{ index: 0, ...answerOf(pollId, result, form), logprobs: null }],
    ...(result.usage && { usage: result.usage }),
    eloquentpoll: chatPollOf(config, result),
  };
}

export function answerOf(pollId: string, { winning_option: winner, tally }: PollResponse, form: AnswerForm): Answered {
  const message = { role: 'assistant' as const, content: null, refusal: null };
  if (winner === null) return { message: { ...message, refusal: tieIn(tally) }, finish_reason: 'stop' };
  switch (form.kind) {
    case 'text':
      return { message: { ...message, content: winner }, finish_reason: 'stop' };
    case 'json':
      return { message: { ...message, content: JSON.stringify(form.fill(winner)) }, finish_reason: 'stop' };
    case 'tool': {
      const called = { name: form.name, arguments: JSON.stringify(form.fill(winner)) };
      const call = { id: `call_${pollId}`, type: 'function' as const, function: called };
      return { message: { ...message, tool_calls: [call] }, finish_reason: 'tool_calls' };
    }
    default:
      return form satisfies never;
  }
}

const tieIn = (tally: Readonly<Record<string, number>>): string =>
  `The poll is a tie, so no option has won: ${Object.entries(tally)
    .map(([option, votes]) => `${option} ${votes}`)
    .join(', ')}.`;

export const chatPollOf = (config: Config, result: PollResponse): ChatPoll => ({
  poll_id: result.poll_id,
  result_url: `${config.baseUrl}/api/results/${result.poll_id}`,
  page_url: pageUrl(config, result.poll_id),
  status: result.status,
  preset: result.preset,
  winning_option: result.winning_option,
  is_tie: result.is_tie,
  confidence: result.confidence,
  tally: result.tally,
  models_asked: result.votes.length,
  cost_usd: isFree(result.preset) ? 0 : result.costs.total_estimated_cost,
  simulated: result.simulated,
  ...(result.votes.some(({ reason }) => reason !== undefined) && {
    reasons: result.votes.map(({ model_id, chosen_option, reason = null }) => ({ model_id, chosen_option, reason })),
  }),
});
