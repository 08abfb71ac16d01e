import type { Model } from './panel-types.ts';
import { costOf } from './price.ts';
import { answerBytes, readUsage, type Usage } from './read-answer.ts';

/** Bytes that count as one token where a provider does not say: a customary average, in the customer's favour. */
export const BYTES_PER_TOKEN = 4;

const PPM = 1_000_000n;

/** Ours for something that costs `costU` at the provider. `pricePpm` is the list price by the provider's, in millionths. */
export const listPrice = (costU: bigint, pricePpm: number): bigint => (costU * BigInt(pricePpm) + PPM - 1n) / PPM;

/** What a call costs at the roster's price, by the tokens that the provider counted; null where it counted none. */
export function countedCostU(model: Model, reply: unknown, searched: boolean): number | null {
  const usage = readUsage(reply);
  return usage && Number(costOfUsage(model, usage, searched));
}

export interface Bill {
  searched: boolean;
  pricePpm: number;
  /** The most that may be billed. */
  reserveU: number;
}

/**
 * What the customer pays for the call that brought the vote: list price times the tokens the provider counted, never more
 * than was reserved. Failed calls, retries and repairs are not in it.
 */
export function billedU(model: Model, reply: unknown, requestText: () => string, bill: Bill): number {
  const usage = readUsage(reply) ?? {
    inputTokens: Math.ceil(Buffer.byteLength(requestText()) / BYTES_PER_TOKEN),
    outputTokens: Math.min(model.maxOutputTokens, Math.ceil(answerBytes(reply) / BYTES_PER_TOKEN)),
  };
  return Math.min(Number(listPrice(costOfUsage(model, usage, bill.searched), bill.pricePpm)), bill.reserveU);
}

function costOfUsage(model: Model, { inputTokens, outputTokens }: Usage, searched: boolean): bigint {
  const fee = searched && model.search ? model.search.feeU : 0n;
  return costOf(model.price, inputTokens, outputTokens) + fee;
}
