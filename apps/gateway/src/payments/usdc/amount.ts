import { invalid } from '../../http/api-error.ts';

/** US dollars as micro-USD, which equal USDC's smallest units. Parses the digits: 1.005 is refused, not rounded. */
export function unitsOf(amountUsd: number): bigint {
  const [, dollars = '', cents = ''] = /^(\d+)(?:\.(\d{1,2}))?$/.exec(String(amountUsd)) ?? [];
  if (dollars === '') {
    throw invalid([{ pointer: '#/amount_usd', detail: 'amount_usd must have at most two decimals' }]);
  }
  return BigInt(dollars + cents.padEnd(2, '0')) * 10_000n;
}

export const centsOf = (amountU: bigint): number => Number(amountU / 10_000n);
