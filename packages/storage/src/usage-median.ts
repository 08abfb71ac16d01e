// A histogram of usage is stored as one decimal number; see counted_once.sql.

/** Digits of the count of one bucket. */
const DIGITS = 9;

/**
 * The median of a histogram with `count` entries. The histogram is in the format of numeric_send, two bytes for four
 * digits without trailing zeros: parsing numbers of a thousand digits as text would take most of the time.
 */
export function medianOf(histogram: Buffer, count: number): number | null {
  const groups = histogram.readUInt16BE(0);
  const zeros = 4 * (histogram.readInt16BE(2) - groups + 1);
  let digits = '';
  for (let i = 0; i < groups; i++) digits += String(histogram.readUInt16BE(8 + 2 * i)).padStart(4, '0');
  digits += '0'.repeat(zeros % DIGITS);
  let upTo = 0;
  for (let bucket = Math.floor(zeros / DIGITS), end = digits.length; end > 0; bucket++, end -= DIGITS) {
    upTo += Number(digits.slice(Math.max(0, end - DIGITS), end));
    if (upTo > 0 && upTo * 2 >= count) return middleOf(bucket);
  }
  return null;
}

/** The middle of a bucket of `usage_bucket`, at most 4.5 percent from any value in it. */
const middleOf = (bucket: number): number => (bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / 8)));
