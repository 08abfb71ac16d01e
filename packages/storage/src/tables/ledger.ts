import type { Generated } from 'kysely';

export interface BalancesTable {
  account_id: string;
  posted_u: Generated<bigint>;
  held_u: Generated<bigint>;
  used_u: Generated<bigint>;
  held_back_u: Generated<bigint>;
  reserved_u: Generated<bigint>;
  allow_negative: Generated<boolean>;
  topped_up_on: string | null;
  used_on: string | null;
  used_today_u: Generated<bigint>;
  used_yesterday_u: Generated<bigint>;
  low_balance_u: bigint | null;
  used_elsewhere_u: Generated<bigint>;
}

export interface TransfersTable {
  id: Generated<bigint>;
  idem: string;
  kind: 'credit' | 'reversal' | 'top_up' | 'hold' | 'post' | 'void';
  debit: string;
  credit: string;
  amount_u: bigint;
  pending_id: bigint | null;
  poll_id: string | null;
  created_at: Generated<Date>;
}
