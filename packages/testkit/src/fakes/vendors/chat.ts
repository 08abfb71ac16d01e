import type { AskedVote, ErrorAnswer, Json, Outcome, Vendor } from './vendor.ts';

// What vendors with the Chat Completions API have in common; each fake defines its differences.

export const openaiError = (
  status: number,
  message: string,
  rest: { type?: string; param?: string | null; code?: string | null } = {},
): ErrorAnswer => ({
  status,
  body: { error: { message, type: 'invalid_request_error', param: null, code: null, ...rest } },
});

/** How Mistral rejects a field, also on Azure. */
export const forbidden = (name: string, value: unknown) => ({
  status: 422,
  body: {
    object: 'error',
    message: {
      detail: [{ type: 'extra_forbidden', loc: ['body', name], msg: 'Extra inputs are not permitted', input: value }],
    },
    type: 'invalid_request_error',
    param: null,
    code: null,
  },
});

export const CHAT_FIELDS =
  'model messages max_tokens max_completion_tokens temperature top_p n stream stop seed user tools tool_choice response_format reasoning_effort';

export const CHAT: Omit<Vendor, 'models'> = {
  path: '/chat/completions',
  keyHeader: 'authorization',
  unauthorized: openaiError(401, 'Invalid API key', { code: 'invalid_api_key' }),
  unknownModel: (model) => openaiError(404, `The model ${model} does not exist`, { code: 'model_not_found' }),
  complaint: () => null,
  completion: chatCompletion,
  refusal: null,
  rateLimited: {
    ...openaiError(429, 'Rate limit reached', { code: 'rate_limit_exceeded' }),
    headers: { 'retry-after': '0.05' },
  },
  spent: [],
  overloaded: openaiError(503, 'Overloaded', { type: 'server_error' }),
};

export function chatCompletion({ body, model }: AskedVote, outcome: Outcome): Json {
  const { text, end } = outcome;
  const called = Array.isArray(body.tools) && text !== null;
  const message = called
    ? {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'vote', arguments: text } }],
      }
    : { role: 'assistant', content: text };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_795_000_000,
    model,
    choices: [{ index: 0, finish_reason: FINISH[end], message }],
    ...(outcome.counted && { usage: usageWithReasoning(outcome) }),
  };
}

const FINISH = { done: 'stop', refused: 'content_filter', cut: 'length' };

/** Reasoning tokens are part of the completion tokens, as for OpenAI. */
function usageWithReasoning({ inputTokens, outputTokens, reasoningTokens }: Outcome): Json {
  const completion = outputTokens + reasoningTokens;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: completion,
    total_tokens: inputTokens + completion,
    ...(reasoningTokens > 0 && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  };
}

/** Reasoning tokens are only in the total, as for Gemini and xAI. */
export const usageBesideReasoning = ({ inputTokens, outputTokens, reasoningTokens }: Outcome): Json => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens + reasoningTokens,
});
