import type { Seat } from '@eloquentpoll/contracts';
import { callCostOf, listPrice } from './billing.ts';
import { voteMaxU } from './call-costs.ts';
import type { Model, Panel } from './panel-types.ts';
import { type PollText, promptBytes } from './poll-text.ts';
import { anyPrompt, type Prompt } from './prompt.ts';
import { REPAIR } from './prompt-words.ts';
import type { ModelRecord } from './record.ts';
import { typicalCostsFor } from './typical-cost.ts';

// The seats of a panel, with the maximum cost of each vote: to us, and to the customer, who pays list price for the
// call that brought the vote and may have to pay what earlier calls cost us.

/**
 * Tokens that a provider may add to what we send: the chat template, and the words around a schema or a tool. The
 * largest known number is about 600, for a forced tool.
 */
const TEMPLATE_TOKENS = 800;

/** The text of a repair, which a vote rarely needs. */
const REPAIR_BYTES = Buffer.byteLength(REPAIR);

/**
 * The maximum number of prompt tokens of a call. A token is at least one byte of UTF-8 in every tokenizer in use, so
 * the byte length is a safe bound, even for texts that are made to tokenize badly. It is about four times too high for
 * English, which matters little because output dominates a vote's price. All labels and all nonces have the same
 * length, so any vote of the poll will do.
 */
function promptTokenBound(model: Model, text: PollText, prompt: Prompt): number {
  const searched = text.search && model.search ? model.search.extraInputTokens : 0;
  return promptBytes(model, text.style, prompt) + REPAIR_BYTES + TEMPLATE_TOKENS + searched;
}

function callMaxU(model: Model, text: PollText, prompt: Prompt): bigint {
  const usage = { inputTokens: promptTokenBound(model, text, prompt), outputTokens: model.maxOutputTokens };
  return callCostOf(model, usage, text.search);
}

/** The maximum cost of one call to us, in micro-USD. */
export const maxCallCostOf = (model: Model, text: PollText): bigint => callMaxU(model, text, anyPrompt(text));

export interface SeatTerms {
  records?: ReadonlyMap<string, Pick<ModelRecord, 'failureRate' | 'p90Ms'>>;
  /** List price divided by the provider's price, in millionths. */
  pricePpm?: number;
}

/** Seats in the panel's own order. The poll draws the asking order. */
export function seatsFor(panel: Panel, text: PollText, { records, pricePpm = 1_000_000 }: SeatTerms = {}): Seat[] {
  const prompt = anyPrompt(text);
  const typicalU = typicalCostsFor(panel, text, prompt);
  return panel.models.map((model, i) => {
    const record = records?.get(model.id);
    const maxU = callMaxU(model, text, prompt);
    return {
      model_id: model.id,
      family: model.family,
      // The earlier calls at our cost, and the last one at its list price.
      reserve_u: voteMaxU(Number(maxU)) - Number(maxU) + Number(listPrice(maxU, pricePpm)),
      call_max_u: Number(maxU),
      call_typical_u: Number(typicalU[i]!),
      ...(model.refusalFeeU > 0 && { refusal_fee_u: model.refusalFeeU }),
      failure_rate: record?.failureRate ?? 0,
      p90_ms: Math.round(record?.p90Ms ?? model.p90Ms),
    };
  });
}
