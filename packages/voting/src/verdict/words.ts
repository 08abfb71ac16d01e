// Numbers and lists for people. Rounding never overstates: a probability below 1 is never shown as "100%".

/** Null if there is nothing to state. */
export function percentOf(probability: number | null): string | null {
  if (probability === null || !(probability >= 0 && probability <= 1)) return null;
  const whole = Math.floor(100 * probability + 1e-9);
  if (probability < 1 && whole >= 100) return '99%';
  return whole < 1 && probability > 0 ? 'under 1%' : `${whole}%`;
}

/** Two significant digits below a dollar, cents above. */
export function dollars(usd: number): string {
  if (usd >= 1) return `$${usd.toFixed(2)}`;
  const fraction = usd.toFixed(usd === 0 ? 0 : Math.min(20, 1 - Math.floor(Math.log10(usd))));
  return `$${fraction.includes('.') ? fraction.replace(/\.?0+$/, '') : fraction}`;
}

/** "a", "a and b", "a, b and c". */
export function listed<T>(items: readonly T[]): (T | string)[] {
  return items.flatMap((item, i) => {
    if (i === 0) return [item];
    return [i === items.length - 1 ? ' and ' : ', ', item];
  });
}

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

const FAILURES: Readonly<Record<string, (count: number) => string>> = {
  refusal: (count) => `${count} refused`,
  provider_error: (count) => counted(count, 'provider error'),
  timeout: (count) => `${count} timed out`,
  rate_limited: (count) => `${count} rate-limited`,
  malformed: (count) => counted(count, 'unreadable answer'),
  invalid_choice: (count) => `${count} picked no option`,
  aborted: (count) => `${count} canceled`,
};

/** How the words say that no more models were asked because the caller canceled. */
export const POLL_CANCELED = 'The poll was canceled';

/** Votes get this code only when the poll's caller canceled it. */
export const isCanceled = (codes: readonly (string | null)[]): boolean => codes.includes('aborted');

/** `isCanceled` is needed because no vote shows the cancellation if no call was running. */
export const saysCanceled = (poll: { readonly isCanceled?: boolean; readonly failures: readonly string[] }): boolean =>
  poll.isCanceled === true || isCanceled(poll.failures);

/** "2 refused, 1 timed out", most frequent first. Unknown codes become "gave no vote". */
export function failuresByCause(codes: readonly string[]): string {
  const causes = [...Object.keys(FAILURES), 'unknown'];
  const byCause = Map.groupBy(codes, (code) => (Object.hasOwn(FAILURES, code) ? code : 'unknown'));
  return causes
    .map((cause) => ({ cause, count: byCause.get(cause)?.length ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)
    .map(({ cause, count }) => FAILURES[cause]?.(count) ?? `${count} gave no vote`)
    .join(', ');
}
