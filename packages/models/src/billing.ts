import type { Model } from './panel-types.ts';
import { costOf, PPM, withFee } from './price.ts';
import { readUsage, type Usage } from './read-answer.ts';

/** Bytes that count as one token where a provider does not say: a customary average, in the customer's favour. */
export const BYTES_PER_TOKEN = 4;

/** Ours for something that costs `costU` at the provider. `pricePpm` is the list price by the provider's, in millionths. */
export const listPrice = (costU: bigint, pricePpm: number): bigint =>
  (costU * BigInt(pricePpm) + BigInt(PPM) - 1n) / BigInt(PPM);

/** Times the most that a call can cost: space for reasoning that a provider does not count against what may be answered. */
const BELIEVABLE = 4;

interface CallTerms {
  searched: boolean;
  /** The most that a call can cost, by its prompt and the tokens that it may answer with. */
  callMaxU: number;
}

/**
 * Tokens as the provider counted them; null where it did not say, or said more than a call can have, as a proxy does that adds
 * up all calls. Such a number would stop every poll at the ceiling of provider spend.
 */
export function countedUsage(model: Model, reply: unknown, { searched, callMaxU }: CallTerms): Usage | null {
  const usage = readUsage(reply);
  return usage && costOfUsage(model, usage, searched) <= BELIEVABLE * callMaxU ? usage : null;
}

/**
 * The cost that the provider said, where it is at most a few times what a call can cost. A cost of 0 is no answer where tokens are paid for, or were not
 * counted: OpenRouter says it of calls with keys of others.
 */
export const believedCost = (said: number | null, counted: number | null, callMaxU: number): number | null =>
  said === null || said > BELIEVABLE * callMaxU || (said === 0 && counted !== 0) ? null : said;

/** By the bytes that were sent and came back, where the provider counted nothing. */
export const guessedUsage = (model: Model, bytes: number, requestText: string): Usage => ({
  inputTokens: Math.ceil(Buffer.byteLength(requestText) / BYTES_PER_TOKEN),
  outputTokens: Math.min(model.maxOutputTokens, Math.ceil(bytes / BYTES_PER_TOKEN)),
});

/** What a call costs at the roster's price, its provider's fee included. */
export function callCostOf(model: Model, { inputTokens, outputTokens }: Usage, searched: boolean): bigint {
  const searchU = searched && model.search ? model.search.feeU : 0n;
  return withFee(costOf(model.price, inputTokens, outputTokens) + searchU, model.feePpm);
}

export const costOfUsage = (model: Model, usage: Usage, searched: boolean): number =>
  Number(callCostOf(model, usage, searched));

export interface Bill {
  searched: boolean;
  pricePpm: number;
  /** The most that may be billed. */
  reserveU: number;
}

/**
 * What the customer pays for the call that brought the vote: list price times its tokens, never more than was reserved. Failed
 * calls, retries and repairs are not in it.
 */
export const billedU = (model: Model, usage: Usage, { searched, pricePpm, reserveU }: Bill): number =>
  Math.min(Number(listPrice(BigInt(costOfUsage(model, usage, searched)), pricePpm)), reserveU);
