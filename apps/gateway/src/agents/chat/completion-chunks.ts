import { type ChatPoll, chatErrorBody, type Occurrence, type PollResponse } from '@eloquentpoll/contracts';
import type { Config } from '../../config/config.ts';
import { jsonLine } from '../../http/json-line.ts';
import { answerOf, chatPollOf, completionId, nowInSeconds } from './completion.ts';
import type { AskedByChat } from './read-request.ts';

// A completion as a stream of chunks: the role at once, the answer when the poll has ended.

export interface ChunkedCompletion {
  pollId: string;
  asked: Pick<AskedByChat, 'model' | 'form'> & { includeUsage: boolean };
}

export const firstChunk = ({ pollId, asked }: ChunkedCompletion): string =>
  event(chunk(pollId, asked, { role: 'assistant', content: '', refusal: null }));

export function lastChunks(config: Config, { pollId, asked }: ChunkedCompletion, result: PollResponse): string {
  const { message, finish_reason } = answerOf(pollId, result, asked.form);
  const { content, refusal, tool_calls: calls } = message;
  const delta = calls
    ? { tool_calls: calls.map((call, index) => ({ index, ...call })) }
    : content === null
      ? { refusal }
      : { content };
  const end = chunk(pollId, asked, {}, finish_reason, chatPollOf(config, result));
  const usage = asked.includeUsage
    ? [{ ...end, choices: [], usage: result.usage ?? null, eloquentpoll: undefined }]
    : [];
  return [chunk(pollId, asked, delta), end, ...usage].map(event).join('') + DONE;
}

const DONE = 'data: [DONE]\n\n';

/** A stream that ends with an error has no `[DONE]`. */
export const errorChunk = (occurrence: Occurrence): string => event(chatErrorBody(occurrence));

function chunk(
  pollId: string,
  { model, includeUsage }: ChunkedCompletion['asked'],
  delta: object,
  finish_reason: string | null = null,
  poll?: ChatPoll,
) {
  return {
    id: completionId(pollId),
    object: 'chat.completion.chunk',
    created: nowInSeconds(),
    model,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(includeUsage && { usage: null }),
    ...(poll && { eloquentpoll: poll }),
  };
}

const event = (data: object): string => `data: ${jsonLine(data)}\n\n`;
