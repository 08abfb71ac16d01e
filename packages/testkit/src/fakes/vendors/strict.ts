import { CHAT, CHAT_FIELDS, chatCompletion, forbidden, openaiError, usageBesideReasoning } from './chat.ts';
import { isStrictSchema } from './openai.ts';
import { type ErrorAnswer, formatOf, unknownFields, type Vendor } from './vendor.ts';

// Chat Completions vendors that reject unknown fields, each with its own error text.

type Rules = Omit<Vendor, 'models'>;

const google = (status: number, name: string, message: string, details: unknown[] = []): ErrorAnswer => ({
  status,
  body: [{ error: { code: status, message, status: name, details } }],
});

const GEMINI_FIELDS = CHAT_FIELDS.split(' ')
  .filter((name) => !['seed', 'user'].includes(name))
  .join(' ');

const GEMINI_EFFORTS = ['high', 'low', 'medium', 'none'];

export const gemini: Rules = {
  ...CHAT,
  unauthorized: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
    { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
  ]),
  unknownModel: (model) => google(404, 'NOT_FOUND', `models/${model} is not found for API version v1main`),
  complaint({ body }) {
    const [unknown] = unknownFields(body, GEMINI_FIELDS);
    if (unknown)
      return google(
        400,
        'INVALID_ARGUMENT',
        `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`,
      );
    const effort = body.reasoning_effort;
    if (effort !== undefined && !GEMINI_EFFORTS.includes(String(effort)))
      return google(
        400,
        'INVALID_ARGUMENT',
        `Invalid reasoning_effort: ${String(effort)}. Valid values are: high, low, medium, none`,
      );
    return null;
  },
  completion(asked, outcome) {
    const reply = chatCompletion(asked, outcome);
    const finish = outcome.end === 'refused' && {
      choices: [{ index: 0, finish_reason: 'content_filter: PROHIBITED_CONTENT' }],
    };
    return { ...reply, ...(outcome.counted && { usage: usageBesideReasoning(outcome) }), ...finish };
  },
  rateLimited: google(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '0.05s' },
  ]),
  overloaded: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
};

const MISTRAL_FIELDS =
  'model messages max_tokens temperature top_p stream stop random_seed response_format tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort safe_prompt metadata';

export const mistral: Rules = {
  ...CHAT,
  unauthorized: { status: 401, body: { detail: 'Unauthorized' } },
  unknownModel: (model) => ({
    status: 400,
    body: { object: 'error', message: `Invalid model: ${model}`, type: 'invalid_model', param: null, code: '1500' },
  }),
  complaint({ body }) {
    const [unknown] = unknownFields(body, MISTRAL_FIELDS);
    if (unknown) return forbidden(unknown, body[unknown]);
    const effort = body.reasoning_effort;
    return effort === undefined || effort === 'none' || effort === 'high'
      ? null
      : forbidden('reasoning_effort', effort);
  },
  rateLimited: {
    status: 429,
    body: { object: 'error', message: 'Requests rate limit exceeded', type: 'rate_limited', param: null, code: '1300' },
  },
};

const GROQ_FIELDS = `${CHAT_FIELDS} reasoning_format include_reasoning service_tier`;

export const groq: Rules = {
  ...CHAT,
  complaint({ body, model }) {
    const [unknown] = unknownFields(body, GROQ_FIELDS);
    if (unknown) return openaiError(400, `property '${unknown}' is unsupported`);
    const efforts = model.includes('gpt-oss')
      ? ['low', 'medium', 'high']
      : model.includes('qwen')
        ? ['none', 'default']
        : [];
    const effort = body.reasoning_effort;
    if (effort !== undefined && efforts.length === 0)
      return openaiError(400, '`reasoning_effort` is not supported with this model');
    if (effort !== undefined && !efforts.includes(String(effort)))
      return openaiError(400, `\`reasoning_effort\` must be one of ${efforts.map((one) => `\`${one}\``).join(' or ')}`);
    if (formatOf(body) === 'json_schema' && !model.includes('gpt-oss'))
      return openaiError(400, 'This model does not support response format `json_schema`.', {
        param: 'response_format',
      });
    return isStrictSchema(body.response_format) ? null : openaiError(400, 'invalid JSON schema for response_format');
  },
  unreadable: {
    status: 400,
    body: {
      error: {
        message: "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
        type: 'invalid_request_error',
        code: 'json_validate_failed',
        failed_generation: 'I would take the first, whatever "model" says.',
      },
    },
  },
  rateLimited: {
    ...openaiError(429, 'Rate limit reached for model', { type: 'tokens', code: 'rate_limit_exceeded' }),
    headers: {
      'retry-after': '0.05',
      'x-ratelimit-limit-requests': '14400',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '7.66s',
    },
  },
};

export const fireworks: Rules = {
  ...CHAT,
  unknownModel: (model) =>
    openaiError(404, `Model not found, inaccessible, and/or not deployed: ${model}`, { code: 'NOT_FOUND' }),
  complaint({ body }) {
    const [unknown] = unknownFields(body, CHAT_FIELDS);
    if (!unknown) return null;
    return openaiError(
      400,
      `Extra inputs are not permitted, field: '${unknown}', value: ${JSON.stringify(body[unknown])}`,
    );
  },
};
