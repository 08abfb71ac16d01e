import type { Balance } from '@eloquentpoll/contracts';
import { balanceOf, type LedgerBalance, type Storage } from '@eloquentpoll/storage';

// The ledger counts micro-USD; answers show cents. The balance is rounded down. The usage is rounded once, as a sum.

const U_PER_CENT = 10_000n;

/** Null when there is no such account. */
export async function readBalance(storage: Storage, accountId: string): Promise<Balance | null> {
  const found = await balanceOf(storage, accountId);
  return found && toBalance(found);
}

export function toBalance(found: LedgerBalance): Balance {
  const cents = floorDiv(found.availableU, U_PER_CENT);
  return {
    balance_cents: Number(cents),
    balance: dollarsOfCents(cents),
    usage_cents: Number(floorDiv(found.usageU + U_PER_CENT / 2n, U_PER_CENT)),
    ...(found.heldBackU > 0n && { held_back_cents: Number((found.heldBackU + U_PER_CENT - 1n) / U_PER_CENT) }),
  };
}

/** `$12.34`, or `-$0.05` after a refund of money that was already spent. */
export function dollarsOfCents(cents: bigint): string {
  const size = cents < 0n ? -cents : cents;
  return `${cents < 0n ? '-' : ''}$${size / 100n}.${String(size % 100n).padStart(2, '0')}`;
}

const floorDiv = (a: bigint, b: bigint): bigint => (a - (((a % b) + b) % b)) / b;
