import { CHAT, chatCompletion, openaiError, usageBesideReasoning } from './chat.ts';
import { formatOf, hasTwoUserTurns, type Vendor } from './vendor.ts';

// Chat Completions vendors and servers that ignore unknown fields, or whose handling of them is not known.

type Rules = Omit<Vendor, 'models'>;

export const together: Rules = CHAT;
export const bedrock: Rules = CHAT;
export const compatible: Rules = CHAT;

export const deepseek: Rules = {
  ...CHAT,
  complaint({ body }) {
    if (formatOf(body) === 'json_schema') return openaiError(400, 'This response_format type is unavailable now');
    const asks = formatOf(body) === 'json_object';
    if (asks && !/json/i.test(JSON.stringify(body.messages)))
      return openaiError(
        400,
        "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
      );
    return null;
  },
  unknownModel: () => openaiError(400, 'Model Not Exist', { code: 'invalid_request_error' }),
  completion: (asked, outcome) => ({ ...chatCompletion(asked, outcome), system_fingerprint: 'fp' }),
  refusal: openaiError(400, 'Content Exists Risk', { code: 'invalid_request_error' }),
  spent: [openaiError(402, 'Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' })],
};

const xaiError = (status: number, code: string, error: string) => ({ status, body: { code, error } });

export const xai: Rules = {
  ...CHAT,
  unauthorized: xaiError(400, 'Client specified an invalid argument', 'Incorrect API key provided: ***.'),
  unknownModel: (model) => xaiError(404, 'Some requested entity was not found', `The model ${model} does not exist.`),
  complaint({ body, model }) {
    if (body.reasoning_effort === undefined || !model.includes('non-reasoning')) return null;
    return xaiError(400, 'invalid-argument', `Model ${model} does not support parameter reasoningEffort.`);
  },
  completion(asked, outcome) {
    const usage = { ...usageBesideReasoning(outcome), cost_in_usd_ticks: 2_709_000 };
    return { ...chatCompletion(asked, outcome), ...(outcome.counted && { usage }) };
  },
  refusal: xaiError(
    403,
    'The caller does not have permission to execute the specified operation',
    'Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO',
  ),
  spent: [429, 403].map((status) =>
    xaiError(
      status,
      'Some resource has been exhausted',
      'Your team 16f2151a-40f4 has either used all available credits or reached its monthly spending limit.',
    ),
  ),
};

const routed = (code: number, message: string, metadata?: unknown) => ({
  status: code,
  body: { error: { code, message, ...(metadata !== undefined && { metadata }) } },
});

export const openrouter: Rules = {
  ...CHAT,
  unauthorized: routed(401, 'No auth credentials found'),
  unknownModel: (model) => routed(400, `${model} is not a valid model ID`),
  completion(asked, outcome) {
    const reply = chatCompletion(asked, outcome);
    return { ...reply, ...(outcome.counted && { usage: { ...(reply.usage as object), cost: 0.00042 } }) };
  },
  refusal: routed(403, 'Your input was flagged', { reasons: ['violence'], flagged_input: 'x' }),
  rateLimited: {
    ...routed(429, 'Rate limit exceeded'),
    headers: { 'x-ratelimit-remaining': '0', 'retry-after': '0.05' },
  },
  spent: [routed(402, 'Insufficient credits')],
  overloaded: routed(502, 'Provider returned error'),
};

/** The error of the chat templates of Gemma and Mistral. */
const ALTERNATE = 'Conversation roles must alternate user/assistant/user/assistant/...';

export const vllm: Rules = {
  ...CHAT,
  complaint: ({ body }) => (hasTwoUserTurns(body) ? openaiError(400, ALTERNATE, { type: 'BadRequestError' }) : null),
  unknownModel: (model) => ({
    status: 404,
    body: {
      error: { message: `The model \`${model}\` does not exist.`, type: 'NotFoundError', param: 'model', code: 404 },
    },
  }),
};

export const ollama: Rules = {
  ...CHAT,
  unknownModel: (model) => openaiError(404, `model '${model}' not found`, { type: 'not_found_error' }),
};

export const llamacpp: Rules = {
  ...CHAT,
  complaint: ({ body }) =>
    hasTwoUserTurns(body)
      ? { status: 500, body: { error: { code: 500, message: ALTERNATE, type: 'server_error' } } }
      : null,
  completion: (asked, outcome) => ({ ...chatCompletion(asked, outcome), timings: { prompt_n: 25, predicted_n: 20 } }),
  overloaded: { status: 503, body: { error: { code: 503, message: 'Loading model', type: 'unavailable_error' } } },
};
