import type { VoteError } from '@eloquentpoll/contracts';
import { isObject, type Json } from './json.ts';
import type { Model } from './panel-types.ts';

// Reads a provider's reply. Only one thing is a vote: exactly one label of this vote, letter for letter, in the channel
// that was asked for. Nothing is guessed, searched for in prose or mended.

export type Reading =
  | { vote: number }
  /** `repair`: asking once more in plain words may help. */
  | { error: VoteError; repair: boolean };

export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

const FENCED = /^```(?:json)?\s*\n([\s\S]*)\n```$/;
const LAST_LINE = /^VOTE: (\S.*)$/;

/** `labels` by option index. */
export function readAnswer(model: Pick<Model, 'answer'>, reply: unknown, labels: readonly string[]): Reading {
  if (!isObject(reply)) return { error: 'provider_error', repair: false };
  const choices = reply.choices;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isObject(choice) || !isObject(choice.message)) return { error: 'provider_error', repair: false };
  const message = choice.message;
  const finish = choice.finish_reason;
  if (finish === 'error' || isObject(choice.error)) return { error: 'provider_error', repair: false };
  if (finish === 'content_filter' || isFilled(message.refusal)) return { error: 'refusal', repair: false };
  const label =
    model.answer === 'tool'
      ? fromTool(message)
      : model.answer === 'line'
        ? fromLine(message)
        : fromJson(message.content);
  // A model that ran out of tokens would run out of them again.
  if (label === null) return { error: 'malformed', repair: finish !== 'length' };
  const option = labels.indexOf(label);
  return option < 0 ? { error: 'invalid_choice', repair: true } : { vote: option };
}

function fromTool(message: Json): string | null {
  const calls = message.tool_calls;
  if (!Array.isArray(calls) || calls.length !== 1) return null;
  const call: unknown = calls[0];
  if (!isObject(call) || !isObject(call.function) || call.function.name !== 'vote') return null;
  return fromJson(call.function.arguments);
}

function fromJson(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const body = FENCED.exec(text.trim())?.[1] ?? text;
  // JSON.parse keeps the last of two equal keys; two choices are no choice.
  if ((body.match(/(?<!\\)"choice"\s*:/g)?.length ?? 0) > 1) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return null;
  }
  return isObject(parsed) && typeof parsed.choice === 'string' ? parsed.choice : null;
}

function fromLine(message: Json): string | null {
  const content = message.content;
  if (typeof content !== 'string') return null;
  return LAST_LINE.exec(content.trimEnd().split('\n').at(-1) ?? '')?.[1] ?? null;
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0;
}

/** Tokens as the provider counted them; null where it did not say, or said nonsense. */
export function readUsage(reply: unknown): Usage | null {
  const usage = isObject(reply) ? reply.usage : undefined;
  if (!isObject(usage)) return null;
  const inputTokens = usage.prompt_tokens;
  const outputTokens = usage.completion_tokens;
  return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 100_000_000;
}

/** What the provider says this call cost us, in micro-USD; null where it does not say. */
export function readProviderCost(reply: unknown): number | null {
  const usage = isObject(reply) ? reply.usage : undefined;
  const cost = isObject(usage) ? usage.cost : undefined;
  if (typeof cost !== 'number' || !(cost >= 0 && cost <= 1000)) return null;
  return Math.round(cost * 1_000_000);
}

/** Characters of the answer, for an estimate where the provider counted nothing. */
export function answerBytes(reply: unknown): number {
  const choices = isObject(reply) ? reply.choices : undefined;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isObject(first) && isObject(first.message) ? Buffer.byteLength(JSON.stringify(first.message)) : 0;
}
