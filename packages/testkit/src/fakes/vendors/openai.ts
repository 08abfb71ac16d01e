import { CHAT, chatCompletion, forbidden, openaiError } from './chat.ts';
import { isObject, type Json, unknownFields, type Vendor } from './vendor.ts';

const FIELDS =
  'model messages max_completion_tokens temperature top_p n stream stop seed user safety_identifier metadata tools tool_choice response_format reasoning_effort verbosity store service_tier';
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const parameter = (message: string, param: string, code: string) => openaiError(400, message, { param, code });

/** A schema is rejected unless all properties are required and no others allowed. */
export function isStrictSchema(format: unknown): boolean {
  const wrapped = isObject(format) && isObject(format.json_schema) ? format.json_schema : null;
  if (wrapped?.strict !== true) return true;
  const schema = wrapped.schema;
  if (!isObject(schema) || !isObject(schema.properties) || !Array.isArray(schema.required)) return false;
  return schema.additionalProperties === false && schema.required.length === Object.keys(schema.properties).length;
}

function complaint({ body }: { body: Json }) {
  if (body.max_tokens !== undefined)
    return parameter(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      'max_tokens',
      'unsupported_parameter',
    );
  const [unknown] = unknownFields(body, FIELDS);
  if (unknown) return parameter(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter');
  if (body.temperature !== undefined && body.temperature !== 1)
    return parameter(
      `Unsupported value: 'temperature' does not support ${String(body.temperature)} with this model. Only the default (1) value is supported.`,
      'temperature',
      'unsupported_value',
    );
  if (body.reasoning_effort !== undefined && !EFFORTS.includes(String(body.reasoning_effort)))
    return parameter("Invalid value for 'reasoning_effort'.", 'reasoning_effort', 'invalid_value');
  if (!isStrictSchema(body.response_format))
    return parameter("Invalid schema for response_format 'vote'.", 'response_format', 'invalid_json_schema');
  return null;
}

export const openai: Omit<Vendor, 'models'> = {
  ...CHAT,
  unauthorized: openaiError(401, 'Incorrect API key provided: ***', { code: 'invalid_api_key' }),
  complaint,
  completion(asked, outcome) {
    const reply = chatCompletion(asked, outcome);
    if (outcome.end !== 'refused') return reply;
    const message = { role: 'assistant', content: null, refusal: "I'm sorry, I can't help with that." };
    return { ...reply, choices: [{ index: 0, finish_reason: 'stop', message }] };
  },
  rateLimited: {
    ...openaiError(429, 'Rate limit reached for gpt in organization org-1 on requests per min (RPM).', {
      type: 'requests',
      code: 'rate_limit_exceeded',
    }),
    headers: {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '120ms',
      'retry-after-ms': '50',
      'retry-after': '1',
    },
  },
  spent: [
    openaiError(429, 'You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    openaiError(429, 'Your account is not active, please check your billing details on our website.', {
      type: 'billing_not_active',
    }),
  ],
  overloaded: openaiError(503, 'The engine is currently overloaded, please try again later', { type: 'server_error' }),
};

export const azure: Omit<Vendor, 'models'> = {
  ...openai,
  keyHeader: 'api-key',
  complaint({ body, model }) {
    if (model.startsWith('gpt')) return complaint({ body });
    const [unknown] = model.startsWith('mistral')
      ? ['max_completion_tokens', 'user'].filter((name) => name in body)
      : [];
    return unknown === undefined ? null : forbidden(unknown, body[unknown]);
  },
  completion: chatCompletion,
  unauthorized: {
    status: 401,
    body: { error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' } },
  },
  unknownModel: () => ({
    status: 404,
    body: { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
  }),
  refusal: {
    status: 400,
    body: {
      error: { message: 'The response was filtered', type: null, param: 'prompt', code: 'content_filter', status: 400 },
    },
  },
  rateLimited: {
    status: 429,
    body: { error: { code: '429', message: 'Requests have exceeded call rate limit of your current tier.' } },
    headers: { 'retry-after-ms': '50', 'retry-after': '1' },
  },
  spent: [],
};
