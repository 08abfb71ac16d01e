import type { Model } from './panel-types.ts';
import { costOf } from './price.ts';
import { answerBytes, readUsage } from './read-answer.ts';

/** Bytes that count as one token where a provider does not say: a customary average, in the customer's favour. */
export const BYTES_PER_TOKEN = 4;

/**
 * What the customer pays for the call that brought the vote: list price times the tokens the provider counted, never more
 * than was reserved. Failed calls, retries and repairs are ours to pay.
 */
export function billedU(
  model: Model,
  reply: unknown,
  requestText: () => string,
  searched: boolean,
  reserveU: number,
): number {
  const usage = readUsage(reply) ?? {
    inputTokens: Math.ceil(Buffer.byteLength(requestText()) / BYTES_PER_TOKEN),
    outputTokens: Math.min(model.maxOutputTokens, Math.ceil(answerBytes(reply) / BYTES_PER_TOKEN)),
  };
  const fee = searched && model.search ? model.search.feeU : 0n;
  return Math.min(Number(costOf(model.price, usage.inputTokens, usage.outputTokens) + fee), reserveU);
}
