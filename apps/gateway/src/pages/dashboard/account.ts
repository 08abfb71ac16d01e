import type { Balance, CurrentUser } from '@eloquentpoll/contracts';
import type { ApiKey, ResultLine } from '@eloquentpoll/storage';

/** Everything that the dashboard shows of one account, read at one moment. */
export interface AccountView {
  user: CurrentUser;
  /** Wallets that open the account, in their EIP-55 spelling. */
  wallets: readonly string[];
  /** Identity providers that open it, by their address. */
  providers: readonly string[];
  balance: Balance;
  /** Micro-USD that running polls have set aside. */
  heldU: bigint;
  keys: readonly ApiKey[];
  history: HistoryPage;
  /** Back from paying by card. */
  payment: PaymentReturn | null;
}

export interface HistoryPage {
  lines: readonly ResultLine[];
  /** Counted from 1. */
  number: number;
  hasOlder: boolean;
}

export type PaymentReturn =
  | { kind: 'cancelled' }
  | { kind: 'credited'; amountCents: number }
  /** `looks`: how often the page has looked already. */
  | { kind: 'waiting'; looks: number };

/** How money can come in here. */
export interface Funding {
  card: boolean;
  /** null where deposits are not set up. */
  chain: { id: number; name: string; asset: string; payTo: string } | null;
}
