import { isJsonObject, type JsonObject, type VoteError } from '@eloquentpoll/contracts';
import type { Model } from './panel-types.ts';
import { PPM } from './price.ts';

// Reads a provider's reply. Only one thing is a vote: exactly one label of this vote, letter for letter, in the
// requested form. Every step takes linear time, so no regular expression runs over the answer.

export type AnswerReading =
  /** `rationale`: what the model wrote before its choice, unchanged. */
  | { vote: number; rationale: unknown }
  /** `repair`: asking once more in plain words may help. */
  | { error: VoteError; repair: boolean };

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

const FENCE = '```';
const VOTE_LINE = 'VOTE: ';
const CHOICE_KEY = '"choice"';

/** No tokenizer has longer tokens. A longer answer is rejected before it is parsed. */
const MAX_CHARACTERS_PER_TOKEN = 64;

/** `labels` by option index. */
export function readAnswer(
  model: Pick<Model, 'answer' | 'maxOutputTokens'>,
  reply: unknown,
  labels: readonly string[],
): AnswerReading {
  if (!isJsonObject(reply)) return { error: 'provider_error', repair: false };
  const choices = reply.choices;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isJsonObject(choice)) return { error: 'provider_error', repair: false };
  const { message, finish_reason: finish } = choice;
  if (finish === 'error' || isJsonObject(choice.error)) return { error: 'provider_error', repair: false };
  // Gemini adds the reason ("content_filter: SAFETY") and omits the message.
  if (typeof finish === 'string' && finish.startsWith('content_filter')) return { error: 'refusal', repair: false };
  if (!isJsonObject(message)) return { error: 'provider_error', repair: false };
  if (isFilled(message.refusal)) return { error: 'refusal', repair: false };
  const text = model.answer === 'tool' ? toolArguments(message) : message.content;
  if (typeof text !== 'string') return { error: 'malformed', repair: finish !== 'length' };
  if (text.length > model.maxOutputTokens * MAX_CHARACTERS_PER_TOKEN) return { error: 'malformed', repair: false };
  const said = model.answer === 'line' ? fromLine(text) : fromJson(text);
  // A model that ran out of tokens would run out of them again.
  if (said === null) return { error: 'malformed', repair: finish !== 'length' };
  const option = labels.indexOf(said.label);
  return option < 0 ? { error: 'invalid_choice', repair: true } : { vote: option, rationale: said.rationale };
}

function toolArguments(message: JsonObject): unknown {
  const calls = message.tool_calls;
  if (!Array.isArray(calls) || calls.length !== 1) return null;
  const call: unknown = calls[0];
  if (!isJsonObject(call) || !isJsonObject(call.function) || call.function.name !== 'vote') return null;
  return call.function.arguments;
}

/** A label, and the text that the model wrote with it. */
interface Said {
  label: string;
  rationale: unknown;
}

function fromJson(text: string): Said | null {
  const body = withoutFence(text.trim());
  // JSON.parse keeps only the last of two equal keys, but two choices are no choice.
  if (choiceKeys(body) > 1) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isJsonObject(parsed) || typeof parsed.choice !== 'string') return null;
  return { label: parsed.choice, rationale: parsed.rationale };
}

/** The text between a first line of ``` or ```json and a last line of ```. */
function withoutFence(text: string): string {
  const start = text.indexOf('\n');
  const end = text.length - FENCE.length - 1;
  if (!text.startsWith(FENCE) || !text.endsWith(`\n${FENCE}`) || start >= end) return text;
  const language = text.slice(FENCE.length, start).trim();
  return language === '' || language === 'json' ? text.slice(start + 1, end) : text;
}

/** How often `"choice"` is followed by a colon, ignoring escaped quotes. */
function choiceKeys(text: string): number {
  let count = 0;
  for (let at = text.indexOf(CHOICE_KEY); at >= 0; at = text.indexOf(CHOICE_KEY, at + 1)) {
    let next = at + CHOICE_KEY.length;
    while (WHITESPACE.has(text[next] ?? '')) next += 1;
    if (text[next] === ':' && text[at - 1] !== '\\') count += 1;
  }
  return count;
}

const WHITESPACE = new Set([' ', '\t', '\n', '\r']);

function fromLine(text: string): Said | null {
  const content = text.trimEnd();
  const start = content.lastIndexOf('\n') + 1;
  const line = content.slice(start);
  return line.startsWith(VOTE_LINE)
    ? { label: line.slice(VOTE_LINE.length), rationale: content.slice(0, start) }
    : null;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0;
}

/** The tokens counted by the provider. Null if missing or invalid. */
export function readUsage(reply: unknown): Usage | null {
  const usage = isJsonObject(reply) ? reply.usage : undefined;
  if (!isJsonObject(usage)) return null;
  const inputTokens = usage.prompt_tokens;
  const outputTokens = usage.completion_tokens;
  if (!isCount(inputTokens) || !isCount(outputTokens)) return null;
  // Gemini and xAI count reasoning only in the total, not in the completion. It is billed as output.
  const rest = isCount(usage.total_tokens) ? usage.total_tokens - inputTokens : 0;
  return { inputTokens, outputTokens: Math.max(outputTokens, rest) };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100_000_000;
}

const XAI_TICKS_PER_USD = 10_000_000_000;

/**
 * What this call cost us according to the provider, in micro-USD, including the fee for paying it. Null if not stated.
 */
export function readProviderCost(reply: unknown, feePpm = 0): number | null {
  const usage = isJsonObject(reply) ? reply.usage : undefined;
  if (!isJsonObject(usage)) return null;
  const { cost_in_usd_ticks: ticks, is_byok, cost_details } = usage;
  const charged = typeof ticks === 'number' ? ticks / XAI_TICKS_PER_USD : usage.cost;
  // If our own key at the vendor is used, OpenRouter's cost is only its fee, and the vendor's bill comes on top.
  const upstream = isJsonObject(cost_details) ? cost_details.upstream_inference_cost : null;
  const billed = is_byok === true ? upstream : 0;
  if (!isUsd(charged) || !isUsd(billed)) return null;
  const costU = Math.round(charged * (PPM + feePpm) + billed * PPM);
  return costU <= MAX_USD * PPM ? costU : null;
}

const MAX_USD = 1_000;
const isUsd = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value <= MAX_USD;

/** Bytes of the answer, for an estimate if the provider counted no tokens. */
export function answerBytes(reply: unknown): number {
  const choices = isJsonObject(reply) ? reply.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isJsonObject(first) && isJsonObject(first.message) ? Buffer.byteLength(JSON.stringify(first.message)) : 0;
}
