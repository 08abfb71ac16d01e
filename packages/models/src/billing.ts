import type { Model } from './panel-types.ts';
import { costOf, PPM, withFee } from './price.ts';
import { readUsage, type Usage } from './read-answer.ts';

/** Bytes per token, used if a provider does not count tokens: a common average, in the customer's favor. */
export const BYTES_PER_TOKEN = 4;

/**
 * Our price for what costs `costU` at the provider. `pricePpm`: list price divided by the provider's price, in
 * millionths.
 */
export const listPrice = (costU: bigint, pricePpm: number): bigint =>
  (costU * BigInt(pricePpm) + BigInt(PPM) - 1n) / BigInt(PPM);

/**
 * Costs up to this multiple of a call's maximum are believed, because of reasoning that a provider does not count
 * against the output limit.
 */
const BELIEVABLE = 4;

interface CallTerms {
  searched: boolean;
  /** The maximum cost of a call, from its prompt and its output limit. */
  callMaxU: number;
}

/**
 * The tokens counted by the provider. Null if it counted none, or more than one call can have, like a proxy that adds
 * up all calls. Such a number would stop every poll at the ceiling of provider spend.
 */
export function countedUsage(model: Model, reply: unknown, { searched, callMaxU }: CallTerms): Usage | null {
  const usage = readUsage(reply);
  return usage && costOfUsage(model, usage, searched) <= BELIEVABLE * callMaxU ? usage : null;
}

/**
 * The cost stated by the provider, if it is at most a few times the maximum of a call. A cost of 0 is ignored if tokens
 * cost money or were not counted: OpenRouter states it for calls with one's own key at the vendor.
 */
export const believedCost = (said: number | null, counted: number | null, callMaxU: number): number | null =>
  said === null || said > BELIEVABLE * callMaxU || (said === 0 && counted !== 0) ? null : said;

/** A guess from the bytes sent and received, if the provider counted no tokens. */
export const guessedUsage = (model: Model, bytes: number, requestText: string): Usage => ({
  inputTokens: Math.ceil(Buffer.byteLength(requestText) / BYTES_PER_TOKEN),
  outputTokens: Math.min(model.maxOutputTokens, Math.ceil(bytes / BYTES_PER_TOKEN)),
});

/** The cost of a call at the roster's price, including the provider's fee. */
export function callCostOf(model: Model, { inputTokens, outputTokens }: Usage, searched: boolean): bigint {
  const searchU = searched && model.search ? model.search.feeU : 0n;
  return withFee(costOf(model.price, inputTokens, outputTokens) + searchU, model.feePpm);
}

export const costOfUsage = (model: Model, usage: Usage, searched: boolean): number =>
  Number(callCostOf(model, usage, searched));

export interface Bill {
  searched: boolean;
  pricePpm: number;
  /** The maximum that may be billed. */
  reserveU: number;
}

/**
 * What the customer pays for the call that brought the vote: its tokens at list price, at most the reserve. Failed
 * calls, retries and repairs are not included.
 */
export const billedU = (model: Model, usage: Usage, { searched, pricePpm, reserveU }: Bill): number =>
  Math.min(Number(listPrice(BigInt(costOfUsage(model, usage, searched)), pricePpm)), reserveU);
