import { BYTES_PER_TOKEN, callCostOf } from './billing.ts';
import type { Model, Panel } from './panel-types.ts';
import { type PollText, promptBytes } from './poll-text.ts';
import { anyPrompt } from './prompt.ts';
import { asksRationale, promptStyle } from './prompt-words.ts';

// The typical cost of a vote to us, for estimates; seats.ts has the worst case, for holds. The prompt's bytes are known
// and only its tokens are guessed. The model's output is guessed from what is requested: a label, a reason of at most
// 40 words, and the thoughts of a model that reasons at low effort.

/** The chat template around two short messages. */
const TEMPLATE_TOKENS = 20;
/** One label and the JSON, tool call or line around it. */
const CHOICE_TOKENS = 12;
const RATIONALE_TOKENS = 50;
/** At low effort, a model thinks for a few sentences about a choice between few options. */
const REASONING_TOKENS = 250;
/** Search results rarely fill the space that is reserved for them. */
const SEARCH_SHARE = 0.5;

/** The typical cost of a call to us, in micro-USD, in the panel's own order. Never more than its maximum. */
export function typicalCostsFor(panel: Panel, text: PollText, prompt = anyPrompt(text)): bigint[] {
  return panel.models.map((model) => {
    const search = text.search ? model.search : null;
    const found = Math.round((search?.extraInputTokens ?? 0) * SEARCH_SHARE);
    const words = Math.ceil(promptBytes(model, text.style, prompt) / BYTES_PER_TOKEN);
    const input = words + TEMPLATE_TOKENS + found;
    return callCostOf(model, { inputTokens: input, outputTokens: typicalOutput(model, text) }, text.search);
  });
}

/**
 * A question of typical length. It determines the order by price, so that the order is the same for short and long
 * questions.
 */
const USUAL_QUESTION = 'x'.repeat(240);
const USUAL_OPTIONS = Array.from({ length: 4 }, (_, i) => `${i}`.padEnd(24, 'x'));

/** The price of each model's call that determines the order by price, in micro-USD, in the panel's own order. */
export function orderingPricesOf(panel: Panel, search: boolean): bigint[] {
  const style = promptStyle({ panel_name: panel.name });
  return typicalCostsFor(panel, { question: USUAL_QUESTION, options: USUAL_OPTIONS, search, style });
}

function typicalOutput(model: Model, { style }: PollText): number {
  const reasons = model.reasoning === 'low' || model.reasoning === 'always';
  const tokens =
    CHOICE_TOKENS + (asksRationale(model, style) ? RATIONALE_TOKENS : 0) + (reasons ? REASONING_TOKENS : 0);
  return Math.min(tokens, model.maxOutputTokens);
}
