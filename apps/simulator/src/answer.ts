import { randomBytes } from 'node:crypto';
import type { ContentFailure } from './behaviour.ts';
import { type Channel, type ChatRequest, textOf } from './chat.ts';
import type { Paper } from './read-prompt.ts';
import type { SimulatedModel } from './traits.ts';

// Converts a vote to a provider's answer in the requested form, and distorts it if a content failure is scripted.

export interface ModelMessage {
  content: string | null;
  refusal: string | null;
  toolCalls: { id: string; name: string; arguments: string }[];
  finish: 'stop' | 'tool_calls' | 'length';
}

export interface ReportedUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  completion_tokens_details: { reasoning_tokens: number };
  cost: number;
}

/** As long as a reason of about thirty words, because costs are estimated from that. */
const RATIONALE =
  'Compared one by one with what the question asks for, the others each leave something out or go against what was given; this one does neither, so it is the one that fits the question best.';
/** Tokens that providers count in addition to the answer: quotes, braces, field names, end of text. */
const FORM_TOKENS = 8;
const OUTSIDE = 'ZZZZ';

/** The model's message when it votes for this label. Null: a refusal. */
export function say(
  channel: Channel,
  paper: Paper | null,
  label: string | null,
  kind: ContentFailure | null,
  rationale: string | null,
): ModelMessage {
  const reason = rationale ?? RATIONALE;
  if (paper === null) return inChannel(channel, [''], reason);
  if (kind === 'refusal' || label === null) return { ...nothing(), content: null, refusal: 'I cannot help with that.' };
  if (kind === 'empty') return nothing();
  if (kind === 'prose') return { ...nothing(), content: 'Both sides have a point; it depends on what matters to you.' };
  if (kind === 'wrong_tool') return call([['search_web', JSON.stringify({ query: 'best option' })]]);
  if (kind === 'label_outside_enum') return inChannel(channel, [OUTSIDE], reason);
  if (kind !== 'two_tool_calls') return inChannel(channel, [label], reason);
  const other = paper.options.find((option) => option.label !== label)?.label ?? OUTSIDE;
  return inChannel(channel, [label, other], reason);
}

/** Cuts the answer in the middle, as a token limit would. */
export function cutShort(said: ModelMessage, bytes: number): ModelMessage {
  const cut = (text: string) => Buffer.from(text).subarray(0, bytes).toString();
  return {
    ...said,
    content: said.content === null ? null : cut(said.content),
    toolCalls: said.toolCalls.map((one) => ({ ...one, arguments: cut(one.arguments) })),
    finish: 'length',
  };
}

const nothing = (): ModelMessage => ({ content: '', refusal: null, toolCalls: [], finish: 'stop' });

function inChannel(channel: Channel, labels: string[], reason: string): ModelMessage {
  if (channel.kind === 'tool')
    return call(
      labels.map((label) => [channel.name, JSON.stringify(filled(channel.schema.properties, label, reason))]),
    );
  if (channel.kind === 'json')
    return {
      ...nothing(),
      content: labels.map((label) => JSON.stringify(filled(channel.schema.properties, label, reason))).join('\n'),
    };
  const before = channel.wantsReason ? [reason] : [];
  return { ...nothing(), content: [...before, ...labels.map((label) => `VOTE: ${label}`)].join('\n') };
}

function call(calls: [name: string, args: string][]): ModelMessage {
  return {
    content: null,
    refusal: null,
    toolCalls: calls.map(([name, args]) => ({ id: `call_${randomBytes(9).toString('hex')}`, name, arguments: args })),
    finish: 'tool_calls',
  };
}

type Properties = [name: string, type: string, allowed: readonly string[]][];

/** An object of the requested shape with this label as choice, and this reason as its texts. */
function filled(properties: Properties, label: string, reason: string): Record<string, unknown> {
  if (properties.length === 0) return { choice: label };
  return Object.fromEntries(
    properties.map(([name, type, allowed]): [string, unknown] => {
      if (allowed.length > 0 || name === 'choice') return [name, label];
      if (type === 'boolean') return [name, true];
      if (type === 'number' || type === 'integer') return [name, 0];
      return [name, type === 'array' ? [] : reason];
    }),
  );
}

/** About four bytes per token. Every message costs three more. */
const tokensIn = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

export function usageOf(
  request: ChatRequest,
  said: ModelMessage,
  model: SimulatedModel,
  factor: number,
): ReportedUsage {
  const words = request.messages.reduce((sum, message) => sum + 3 + tokensIn(textOf(message)), 3);
  const shapes = tokensIn(JSON.stringify([request.tools ?? [], request.response_format ?? null]));
  const prompt = Math.round((words + shapes) * factor);
  const spoken = Math.min(spokenTokens(said) + FORM_TOKENS, maxTokensOf(request));
  const completion = Math.round((spoken + model.reasoningTokens) * factor);
  const { prompt_usd_per_mtok, completion_usd_per_mtok } = model.price;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    completion_tokens_details: { reasoning_tokens: Math.round(model.reasoningTokens * factor) },
    cost: Number(((prompt * prompt_usd_per_mtok + completion * completion_usd_per_mtok) / 1e6).toFixed(9)),
  };
}

/** The maximum number of tokens in the answer. */
export const maxTokensOf = ({ max_completion_tokens, max_tokens }: ChatRequest): number =>
  max_completion_tokens ?? max_tokens ?? Number.POSITIVE_INFINITY;

export const spokenTokens = (said: ModelMessage): number =>
  tokensIn([said.content ?? '', said.refusal ?? '', ...said.toolCalls.map((one) => one.name + one.arguments)].join(''));
