// The cost of one call. Prices are integer micro-USD per million tokens, parsed from decimal text with string
// operations, so that no floating point is involved. A bill is rounded up once, at the end.

const DECIMAL = /^(0|[1-9][0-9]{0,6})(?:\.([0-9]{1,6}))?$/;
const TOKENS_PER_PRICE = 1_000_000n;

export interface Price {
  /** Micro-USD per million prompt tokens. */
  input: bigint;
  /** Micro-USD per million completion tokens, reasoning included. */
  output: bigint;
  /** Micro-USD per successful call, independent of its length. */
  call: bigint;
}

/**
 * `"1.25"` USD becomes `1250000n` micro-USD. Null if the text is not a plain decimal with at most six decimal places.
 */
export function parseUsd(value: unknown): bigint | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const match = DECIMAL.exec(String(value));
  if (!match) return null;
  return BigInt(match[1]!) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'));
}

export const PPM = 1_000_000;

/** A cost plus the fee for paying it, such as a fee on credits. The fee is in millionths of the cost. */
export const withFee = (costU: bigint, feePpm: number): bigint =>
  (costU * BigInt(PPM + feePpm) + BigInt(PPM) - 1n) / BigInt(PPM);

export function costOf(price: Price, inputTokens: number, outputTokens: number): bigint {
  const scaled = price.input * BigInt(inputTokens) + price.output * BigInt(outputTokens);
  return (scaled + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE + price.call;
}
