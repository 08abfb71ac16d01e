import type OpenAI from 'openai';
import type { Ballot } from './ballot.ts';
import { answerSchema, asksRationale, type BallotStyle, REPAIR, systemMessage } from './prompt.ts';
import type { Model, Provider } from './roster-types.ts';

export interface Elicitation {
  model: Model;
  provider: Provider;
  ballot: Ballot;
  style: BallotStyle;
  search: boolean;
  repair: boolean;
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;

/** The request for one ballot, on the rung of the ladder that the model's capabilities allow. */
export function requestBody({ model, provider, ballot, style, search, repair }: Elicitation): Body {
  const messages: Body['messages'] = [
    { role: 'system', content: systemMessage(model, style, ballot) },
    { role: 'user', content: ballot.block },
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
    ...(model.seed ? { seed: ballot.providerSeed } : {}),
    ...reasoning(model, provider),
    ...channel(model, asksRationale(model, style), ballot.shown),
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
