import type { Seat } from '@eloquentpoll/contracts';
import type { Model, Panel } from './panel-types.ts';
import { costOf } from './price.ts';
import { composePrompt, type Prompt } from './prompt.ts';
import { answerSchema, asksRationale, type PromptStyle, REPAIR, systemMessage } from './prompt-words.ts';
import type { ModelRecord } from './record.ts';

// The places of a poll's panel with the most that each vote can cost the customer. A customer pays for the one call
// that brought a valid vote, so a repair or retry adds nothing but the words of the repair.

/** What a model is asked, as far as it decides the price. */
export interface PollText {
  question: string;
  options: readonly string[];
  search: boolean;
  style: PromptStyle;
}

/**
 * Tokens that a provider may add around what we send: the chat template and the words that carry a schema or a tool.
 * The largest known is about 600, for a forced tool.
 */
const TEMPLATE_TOKENS = 800;

/** The words of a repair, which a vote may need and usually does not. */
const REPAIR_BYTES = Buffer.byteLength(REPAIR);

/** Bytes of the system message and the schema: they depend on little, and are counted once. */
const wordsBytes = new Map<string, number>();

/** Everything that a vote's first call sends as text. */
export const promptBytes = (model: Model, style: PromptStyle, prompt: Prompt): number =>
  Buffer.byteLength(prompt.block) + bytesAround(model, style, prompt);

function bytesAround(model: Model, style: PromptStyle, prompt: Prompt): number {
  const key = `${model.answer} ${asksRationale(model, style)} ${prompt.shown.length}`;
  const known = wordsBytes.get(key);
  if (known !== undefined) return known;
  const schema = model.answer === 'line' ? '' : JSON.stringify(answerSchema(asksRationale(model, style), prompt.shown));
  const bytes = Buffer.byteLength(systemMessage(model, style, prompt) + schema);
  wordsBytes.set(key, bytes);
  return bytes;
}

/**
 * The most prompt tokens of one call. A token stands for at least one byte of UTF-8 in every tokenizer in use, so the
 * byte length is a bound that cannot be wrong; it is about four times too high for English, which costs little because
 * output dominates a vote's price, and it cannot be gamed with texts that tokenize badly. Labels and nonces have one
 * length, so any vote of the poll will do.
 */
function promptTokenBound(model: Model, text: PollText, prompt: Prompt): number {
  const searched = text.search && model.search ? model.search.extraInputTokens : 0;
  return promptBytes(model, text.style, prompt) + REPAIR_BYTES + TEMPLATE_TOKENS + searched;
}

function reserve(model: Model, text: PollText, prompt: Prompt): bigint {
  const fee = text.search && model.search ? model.search.feeU : 0n;
  return costOf(model.price, promptTokenBound(model, text, prompt), model.maxOutputTokens) + fee;
}

/** A vote of this poll; which one makes no difference to its length. */
export function anyPrompt({ question, options }: PollText): Prompt {
  return composePrompt({ question, options, seat: 0, seed: '' });
}

/** Worst case of one vote in micro-USD: what is held before it is asked and never exceeded by its bill. */
export function reserveOf(model: Model, text: PollText): bigint {
  return reserve(model, text, anyPrompt(text));
}

/** Seats in the panel's own order; the order of asking is for the poll to draw. */
export function seatsFor(
  panel: Panel,
  text: PollText,
  records?: ReadonlyMap<string, Pick<ModelRecord, 'failureRate' | 'p90Ms'>>,
): Seat[] {
  const prompt = anyPrompt(text);
  return panel.models.map((model) => {
    const record = records?.get(model.id);
    return {
      model_id: model.id,
      family: model.family,
      reserve_u: Number(reserve(model, text, prompt)),
      failure_rate: record?.failureRate ?? 0,
      p90_ms: Math.round(record?.p90Ms ?? model.p90Ms),
    };
  });
}
