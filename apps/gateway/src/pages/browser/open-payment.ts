// A signed payment whose end is not known. Its owner may have paid already, so nothing else is signed until the service has
// answered it: it is kept in memory, and in the tab's storage for when the page is loaded again.

export interface OpenPayment {
  amountUsd: number;
  /** The wallet that signed. */
  from: string;
  /** As X-Payment carries it. */
  proof: string;
}

const KEY = 'eloquentpoll-open-payment';
let held: OpenPayment | null = null;

/** Of one of these wallets; a payment of another account is none of this page. */
export function openPaymentOf(wallets: readonly string[]): OpenPayment | null {
  held ??= stored();
  return held && hasWallet(wallets, held.from) ? held : null;
}

export const hasWallet = (wallets: readonly string[], address: string): boolean =>
  wallets.some((own) => own.toLowerCase() === address.toLowerCase());

export function keepOpen(payment: OpenPayment): void {
  held = payment;
  try {
    sessionStorage.setItem(KEY, JSON.stringify(payment));
  } catch {
    // It is kept for as long as the page is.
  }
}

export function closePayment(): void {
  held = null;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was stored either.
  }
}

function stored(): OpenPayment | null {
  try {
    const read: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? 'null');
    return isPayment(read) ? read : null;
  } catch {
    return null;
  }
}

const isPayment = (value: unknown): value is OpenPayment =>
  typeof value === 'object' &&
  value !== null &&
  'amountUsd' in value &&
  typeof value.amountUsd === 'number' &&
  'from' in value &&
  typeof value.from === 'string' &&
  'proof' in value &&
  typeof value.proof === 'string';
