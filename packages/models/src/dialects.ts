import type { Reasoning, VoteForm } from './panel-types.ts';

// How each vendor's API treats our requests, as found in docs/providers.md. A provider in a roster file names its
// dialect and may override single fields. Models that need what the dialect cannot do are rejected.

/** The request fields for each kind of reasoning. A kind without an entry is not available. */
type ReasoningFields = Partial<Record<Exclude<Reasoning, 'none' | 'always'>, Record<string, unknown>>>;

export const REASONING_FIELDS = {
  reasoning_effort: { low: { reasoning_effort: 'low' }, off: { reasoning_effort: 'none' } },
  /** Mistral only has `none` and `high`. */
  no_effort: { off: { reasoning_effort: 'none' } },
  reasoning: { low: { reasoning: { effort: 'low', exclude: true } }, off: { reasoning: { enabled: false } } },
  reasoning_enabled: { low: { reasoning_effort: 'low' }, off: { reasoning: { enabled: false } } },
  thinking: {
    low: { thinking: { type: 'enabled' }, reasoning_effort: 'low' },
    off: { thinking: { type: 'disabled' } },
  },
  enable_thinking: { off: { chat_template_kwargs: { enable_thinking: false } } },
  adaptive_thinking: {
    low: { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    off: { thinking: { type: 'disabled' } },
  },
} as const satisfies Record<string, ReasoningFields>;

export type ReasoningField = keyof typeof REASONING_FIELDS;

export const reasoningFields = (field: ReasoningField): ReasoningFields => REASONING_FIELDS[field];

export const TOKEN_FIELDS = ['max_tokens', 'max_completion_tokens'] as const;
export const USER_FIELDS = ['user', 'safety_identifier', 'metadata.user_id'] as const;
export const SEED_FIELDS = ['seed', 'random_seed'] as const;

export interface Dialect {
  /** Chat Completions, or Anthropic's Messages. */
  api: 'chat' | 'messages';
  /** The header for the key. `authorization` sends it as a bearer token. */
  keyHeader: 'authorization' | 'api-key' | 'x-api-key';
  headers: Record<string, string>;
  maxTokensField: (typeof TOKEN_FIELDS)[number];
  /** Null: the API accepts no seed. */
  seedField: (typeof SEED_FIELDS)[number] | null;
  reasoningField: ReasoningField;
  userField: (typeof USER_FIELDS)[number] | null;
  answers: readonly VoteForm[];
  /**
   * The cost of a question that a filter rejects with an error: at most its prompt, or that of any call. `nothing`: no
   * error costs anything.
   */
  filteredCosts: 'nothing' | 'prompt' | 'call';
  /** What the vendor charges for such a question besides, in micro-USD. */
  refusalFeeU: number;
}

const CHAT: Dialect = {
  api: 'chat',
  keyHeader: 'authorization',
  headers: {},
  maxTokensField: 'max_tokens',
  seedField: 'seed',
  reasoningField: 'reasoning_effort',
  userField: null,
  answers: ['json_schema', 'json_object', 'tool', 'line'],
  filteredCosts: 'prompt',
  refusalFeeU: 0,
};
const NO_FORCED_TOOL = ['json_schema', 'json_object', 'line'] as const;

export const DIALECTS = {
  /** Any other server with the Chat Completions API. */
  compatible: CHAT,
  openai: { ...CHAT, maxTokensField: 'max_completion_tokens', userField: 'safety_identifier' },
  anthropic: {
    api: 'messages',
    keyHeader: 'x-api-key',
    headers: { 'anthropic-version': '2023-06-01' },
    maxTokensField: 'max_tokens',
    seedField: null,
    reasoningField: 'adaptive_thinking',
    userField: 'metadata.user_id',
    answers: ['json_schema', 'tool', 'line'],
    filteredCosts: 'prompt',
    refusalFeeU: 0,
  },
  gemini: { ...CHAT, seedField: null, answers: NO_FORCED_TOOL },
  mistral: { ...CHAT, seedField: 'random_seed', reasoningField: 'no_effort', answers: NO_FORCED_TOOL },
  groq: { ...CHAT, maxTokensField: 'max_completion_tokens' },
  together: { ...CHAT, reasoningField: 'reasoning_enabled' },
  fireworks: CHAT,
  deepseek: { ...CHAT, seedField: null, reasoningField: 'thinking', answers: ['json_object', 'line'] },
  xai: {
    ...CHAT,
    maxTokensField: 'max_completion_tokens',
    userField: 'user',
    filteredCosts: 'call',
    // More than most calls can cost.
    refusalFeeU: 50_000,
  },
  openrouter: { ...CHAT, reasoningField: 'reasoning', userField: 'user', filteredCosts: 'nothing' },
  azure: {
    ...CHAT,
    keyHeader: 'api-key',
    maxTokensField: 'max_completion_tokens',
    userField: 'user',
    filteredCosts: 'call',
  },
  bedrock: { ...CHAT, maxTokensField: 'max_completion_tokens' },
  vllm: { ...CHAT, reasoningField: 'enable_thinking' },
  ollama: { ...CHAT, answers: NO_FORCED_TOOL },
  llamacpp: { ...CHAT, reasoningField: 'enable_thinking', answers: NO_FORCED_TOOL },
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

export const DIALECT_NAMES = Object.keys(DIALECTS) as DialectName[];

export const dialectOf = (name: DialectName): Dialect => DIALECTS[name];
