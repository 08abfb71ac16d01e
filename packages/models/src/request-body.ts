import { isJsonObject, type JsonObject } from '@eloquentpoll/contracts';
import type OpenAI from 'openai';
import { reasoningFields } from './dialects.ts';
import { toMessagesBody } from './messages-api.ts';
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
  /** Pseudonym of the caller. */
  caller?: string | undefined;
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** The request for one vote, in the strictest form that the model supports and in the provider's dialect. */
export function requestBody(asked: Elicitation): Record<string, unknown> {
  const { model, provider, prompt, style, search, repair, caller } = asked;
  const { takes } = provider;
  const messages: Body['messages'] = [
    { role: 'system', content: systemMessage(model, style, prompt) },
    // In one message, because the chat templates of some models do not allow two user messages in a row.
    { role: 'user', content: repair ? `${prompt.block}\n\n${REPAIR}` : prompt.block },
  ];
  const variant = search ? model.search : null;
  const body = {
    ...provider.extraBody,
    ...model.extraBody,
    ...variant?.extraBody,
    ...routing(asked),
    model: variant?.model ?? model.name,
    messages,
    // Always set, because it bounds the cost of a call.
    [takes.maxTokensField]: model.maxOutputTokens,
    ...(model.temperature ? { temperature: 0 } : {}),
    ...(model.seed && takes.seedField ? { [takes.seedField]: prompt.providerSeed } : {}),
    ...(model.user && caller !== undefined ? userField(provider, caller) : {}),
    ...reasoning(model, provider),
    ...channel(model, asksRationale(model, style), prompt.shown),
  };
  return takes.api === 'messages' ? toMessagesBody(body) : body;
}

const MICRO_PER_USD = 1_000_000;

/** Converts a price from micro-USD to dollars. */
const usdOf = (priceU: bigint): number => Number(priceU) / MICRO_PER_USD;

/**
 * OpenRouter chooses among vendors whose prices for one model differ by large factors. It may choose none above the
 * roster's price.
 */
function routing({ model, provider, search }: Elicitation): Record<string, unknown> {
  if (provider.dialect !== 'openrouter') return {};
  const extras = [provider.extraBody, model.extraBody, search ? model.search?.extraBody : undefined];
  const chosen: JsonObject = {};
  for (const extra of extras) if (isJsonObject(extra?.provider)) Object.assign(chosen, extra.provider);
  const { input, output } = model.price;
  return { provider: { ...chosen, max_price: { prompt: usdOf(input), completion: usdOf(output) } } };
}

function userField({ takes }: Provider, caller: string): Record<string, unknown> {
  if (takes.userField === null) return {};
  return takes.userField === 'metadata.user_id' ? { metadata: { user_id: caller } } : { [takes.userField]: caller };
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
    case 'json_object':
      return { response_format: { type: 'json_object' } };
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

function reasoning(model: Model, { takes }: Provider): Record<string, unknown> {
  if (model.reasoning === 'none' || model.reasoning === 'always') return {};
  return reasoningFields(takes.reasoningField)[model.reasoning] ?? {};
}
