import type { Model } from './panel-types.ts';
import type { Prompt } from './prompt.ts';
import { answerSchema, asksRationale, type PromptStyle, systemMessage } from './prompt-words.ts';

// The size of the text that a poll sends to its models, in bytes. Prices are computed from it before any model is
// asked.

/** The part of a request to a model that determines the price. */
export interface PollText {
  question: string;
  options: readonly string[];
  search: boolean;
  style: PromptStyle;
}

/** Bytes of the system message and the schema. They depend on few inputs, so they are counted once. */
const wordsBytes = new Map<string, number>();

/** All text that a vote's first call sends. */
export const promptBytes = (model: Model, style: PromptStyle, prompt: Prompt): number =>
  Buffer.byteLength(prompt.block) + bytesAround(model, style, prompt);

function bytesAround(model: Model, style: PromptStyle, prompt: Prompt): number {
  const key = `${model.answer} ${asksRationale(model, style)} ${prompt.shown.length}`;
  const known = wordsBytes.get(key);
  if (known !== undefined) return known;
  const schema =
    model.answer === 'line' || model.answer === 'json_object'
      ? ''
      : JSON.stringify(answerSchema(asksRationale(model, style), prompt.shown));
  const bytes = Buffer.byteLength(systemMessage(model, style, prompt) + schema);
  wordsBytes.set(key, bytes);
  return bytes;
}
