// A signed payment with an unknown outcome. It may have been paid, so nothing else is signed until the service confirms
// or rejects it. It is kept in memory, and in the tab's session storage in case the page is reloaded.

export interface OpenPayment {
  amountUsd: number;
  /** The wallet that signed. */
  from: string;
  /** As sent in the X-Payment header. */
  proof: string;
}

const KEY = 'eloquentpoll-open-payment';
let held: OpenPayment | null = null;

/** The open payment of one of these wallets. Payments of other accounts are ignored. */
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
    // Storage is unavailable: the payment is kept in memory until the page is closed.
  }
}

export function closePayment(): void {
  held = null;
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // If storage is unavailable, nothing was stored.
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
