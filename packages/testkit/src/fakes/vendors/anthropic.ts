import { type ErrorAnswer, isObject, type Json, type Outcome, unknownFields, type Vendor } from './vendor.ts';

const FIELDS =
  'model messages max_tokens system temperature top_p top_k stop_sequences stream metadata tools tool_choice thinking output_config service_tier';

const error = (status: number, type: string, message: string): ErrorAnswer => ({
  status,
  body: { type: 'error', error: { type, message }, request_id: 'req_1' },
});
const invalid = (message: string) => error(400, 'invalid_request_error', message);

function complaint({ body, model }: { body: Json; model: string }): ErrorAnswer | null {
  const [unknown] = unknownFields(body, FIELDS);
  if (unknown) return invalid(`${unknown}: Extra inputs are not permitted`);
  if (body.max_tokens === undefined) return invalid('max_tokens: Field required');
  const old = model.includes('haiku-4-5');
  if (body.temperature !== undefined && body.temperature !== 1 && !old)
    return invalid('`temperature` is deprecated for this model.');
  const { thinking, output_config } = body;
  if (isObject(thinking) && thinking.type === 'adaptive' && old)
    return invalid('adaptive thinking is not supported on this model');
  if (isObject(output_config) && output_config.effort !== undefined && old)
    return invalid('This model does not support the effort parameter.');
  const format = isObject(output_config) ? output_config.format : undefined;
  if (isObject(format) && (!isObject(format.schema) || format.schema.additionalProperties !== false))
    return invalid(
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  return null;
}

const STOP = { done: 'end_turn', refused: 'refusal', cut: 'max_tokens' };

function completion({ body, model }: { body: Json; model: string }, outcome: Outcome): Json {
  const { text, end, inputTokens, outputTokens, reasoningTokens } = outcome;
  const called = Array.isArray(body.tools) && text !== null && end === 'done';
  const answer = called
    ? [{ type: 'tool_use', id: 'toolu_1', name: 'vote', input: JSON.parse(text) as unknown }]
    : text === null
      ? []
      : [{ type: 'text', text }];
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(reasoningTokens > 0 && end !== 'refused' ? [{ type: 'thinking', thinking: '', signature: 'sig' }] : []),
      ...answer,
    ],
    stop_reason: called ? 'tool_use' : STOP[end],
    stop_sequence: null,
    ...(outcome.counted && {
      usage: {
        input_tokens: inputTokens - 10,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 10,
        output_tokens: end === 'refused' ? 0 : outputTokens + reasoningTokens,
      },
    }),
  };
}

export const anthropic: Omit<Vendor, 'models'> = {
  path: '/messages',
  keyHeader: 'x-api-key',
  unauthorized: error(401, 'authentication_error', 'invalid x-api-key'),
  unknownModel: (model) => error(404, 'not_found_error', `model: ${model}`),
  complaint,
  completion,
  refusal: null,
  rateLimited: {
    ...error(429, 'rate_limit_error', 'This request would exceed the rate limit for your organization.'),
    headers: {
      'retry-after': '0.05',
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-11-22T12:00:00Z',
    },
  },
  spent: [
    invalid('Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'),
    invalid('You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.'),
    {
      status: 429,
      body: {
        type: 'error',
        error: {
          type: 'rate_limit_error',
          message: 'You have reached your spend limit.',
          details: { error_code: 'enforced_spend_limit_reached' },
        },
        request_id: 'req_1',
      },
    },
  ],
  overloaded: error(529, 'overloaded_error', 'Overloaded'),
};
