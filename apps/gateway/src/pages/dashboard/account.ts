import type { Balance, CurrentUser } from '@eloquentpoll/contracts';
import type { HoldBackRules, StoredPanel } from '@eloquentpoll/storage';
import type { BalanceLevel } from './low-balance.ts';
import type { HistoryRow } from './read-polls.ts';

/** What the dashboard shows of an account. */
export interface AccountView {
  user: CurrentUser;
  /** Wallets that can log in, in EIP-55 form. */
  wallets: readonly string[];
  /** Issuers of identities that can log in. */
  providers: readonly string[];
  balance: Balance;
  level: BalanceLevel;
  /** Micro-USD held for running polls. */
  heldU: bigint;
  hasKey: boolean;
  /** The newest polls. */
  recent: readonly HistoryRow[];
  panels: readonly Pick<StoredPanel, 'name' | 'models'>[];
  /** Set after returning from the card payment page. */
  payment: PaymentReturn | null;
}

export type PaymentReturn =
  | { kind: 'cancelled' }
  | { kind: 'credited'; amountCents: number }
  /** `looks`: how many times the page has reloaded. */
  | { kind: 'waiting'; looks: number };

/** The configured ways to pay. */
export interface Funding {
  /** null if card payments are not configured. */
  card: { holdBack: HoldBackRules } | null;
  /** null if deposits are not configured. */
  chain: { id: number; name: string; asset: string; payTo: string } | null;
}
