import type { Issue } from '@eloquentpoll/contracts';

// Every member of a request is used, known to have no effect on a poll, or refused by name. Unknown members are refused
// too: a misspelt `max_cost_usd` must not run a poll without that limit.

const USED = [
  'model',
  'messages',
  'response_format',
  'tools',
  'tool_choice',
  'stream',
  'stream_options',
  'confidence_threshold',
  'max_cost_usd',
  'reasons',
  'metadata',
  'expires_in',
];

/** Parameters for how one model writes text, or for what the vendor stores: they do not affect a poll's outcome. */
export const WITHOUT_EFFECT = [
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
  'reasoning_effort',
  'verbosity',
  'parallel_tool_calls',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'store',
];

interface Refused {
  why: string;
  /** Whether the value requests nothing. */
  isHarmless?(value: unknown): boolean;
}

export const REFUSED: Readonly<Record<string, Refused>> = {
  n: { why: 'must be 1: a poll has one outcome', isHarmless: (value) => value === 1 },
  logprobs: {
    why: 'must be false: a poll has no log probabilities; eloquentpoll.confidence says how sure it is',
    isHarmless: (value) => value === false,
  },
  top_logprobs: { why: 'must be 0: a poll has no log probabilities', isHarmless: (value) => value === 0 },
  logit_bias: {
    why: 'must be empty: the models that vote are not biased',
    isHarmless: (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 0,
  },
  modalities: {
    why: 'must be ["text"]: an answer is one of the options',
    isHarmless: (value) => JSON.stringify(value) === '["text"]',
  },
  service_tier: {
    why: 'must be "auto" or "default": the answer is waited for; POST /api/polls takes flex',
    isHarmless: (value) => value === 'auto' || value === 'default',
  },
  audio: { why: 'is not supported: an answer is one of the options, as text' },
  prediction: { why: 'is not supported: the models that vote must not see an expected answer' },
  web_search_options: { why: 'is not supported; POST /api/quick-poll with the theme search asks models that search' },
  functions: { why: 'is not supported: send tools, and name one with tool_choice' },
  function_call: { why: 'is not supported: send tools, and name one with tool_choice' },
  preset: { why: 'is not known here: the model names the panel, such as eloquentpoll/fast' },
  theme: { why: 'is not known here: the model names the panel, such as eloquentpoll/free' },
  profile: { why: 'is not known here: model, confidence_threshold and max_cost_usd say the same' },
  options: { why: 'is not known here: options are an enum in response_format or in a tool, or [A, B] in the text' },
};

export function parameterIssues(body: Record<string, unknown>): Issue[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null || USED.includes(name) || WITHOUT_EFFECT.includes(name)) return [];
    const refused = Object.hasOwn(REFUSED, name) ? REFUSED[name] : undefined;
    if (refused?.isHarmless?.(value)) return [];
    const shown = name.slice(0, 64).toWellFormed();
    const pointer = `#/${shown.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return [{ pointer, detail: `${shown} ${refused?.why ?? 'is not known here, and would have no effect'}` }];
  });
}
