import type OpenAI from 'openai';
import type { Model, Provider } from './panel-types.ts';
import type { Prompt } from './prompt.ts';
import { answerSchema, asksRationale, type PromptStyle, REPAIR, systemMessage } from './prompt-words.ts';

export interface Elicitation {
  model: Model;
  provider: Provider;
  prompt: Prompt;
  style: PromptStyle;
  search: boolean;
  repair: boolean;
  /** Pseudonym of who asks. */
  caller?: string | undefined;
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** The request for one vote, on the rung of the ladder that the model's capabilities allow. */
export function requestBody({ model, provider, prompt, style, search, repair, caller }: Elicitation): Body {
  const messages: Body['messages'] = [
    { role: 'system', content: systemMessage(model, style, prompt) },
    { role: 'user', content: prompt.block },
  ];
  if (repair) messages.push({ role: 'user', content: REPAIR });
  const variant = search ? model.search : null;
  return {
    ...provider.extraBody,
    ...model.extraBody,
    ...variant?.extraBody,
    model: variant?.model ?? model.id,
    messages,
    // Always set: it is what bounds the cost of a call.
    [provider.maxTokensField]: model.maxOutputTokens,
    ...(model.temperature ? { temperature: 0 } : {}),
    ...(model.seed ? { seed: prompt.providerSeed } : {}),
    ...(model.user && provider.userField && caller !== undefined ? { [provider.userField]: caller } : {}),
    ...reasoning(model, provider),
    ...channel(model, asksRationale(model, style), prompt.shown),
  };
}

function channel(model: Model, rationale: boolean, labels: readonly string[]): Partial<Body> {
  switch (model.answer) {
    case 'json_schema':
      return {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'vote', strict: true, schema: answerSchema(rationale, labels) },
        },
      };
    case 'tool':
      return {
        tools: [
          {
            type: 'function',
            function: {
              name: 'vote',
              description: 'Casts your vote',
              parameters: answerSchema(rationale, labels),
              strict: true,
            },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'vote' } },
      };
    case 'line':
      return {};
  }
}

function reasoning(model: Model, provider: Provider): Record<string, unknown> {
  if (model.reasoning === 'none' || model.reasoning === 'always') return {};
  if (provider.reasoningField === 'reasoning_effort')
    return { reasoning_effort: model.reasoning === 'low' ? 'low' : 'none' };
  return { reasoning: model.reasoning === 'low' ? { effort: 'low', exclude: true } : { enabled: false } };
}
