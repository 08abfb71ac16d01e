import type { Generated, JSONColumnType } from 'kysely';

export interface CheckoutsTable {
  id: Generated<string>;
  account_id: string;
  amount_cents: number;
  state: Generated<'created' | 'open' | 'credited' | 'expired' | 'moved'>;
  processor_id: string | null;
  payment_intent: string | null;
  livemode: boolean | null;
  url: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  credited_at: Date | null;
  returned_at: Date | null;
  /** The amount that the processor has reversed: refunds, and disputes that were not won. */
  reversed_cents: Generated<number>;
  settles_at: Date | null;
  held_back_u: Generated<bigint>;
  version: Generated<number>;
  checked_at: Generated<Date>;
}

export interface ProcessorEventsTable {
  id: string;
  type: string;
  received_at: Generated<Date>;
}

export interface DepositsTable {
  id: Generated<string>;
  chain_id: bigint;
  asset: Buffer;
  payer: Buffer;
  nonce: Buffer;
  pay_to: Buffer;
  amount_u: bigint;
  valid_before: Date;
  state: Generated<'settling' | 'settled' | 'credited' | 'failed'>;
  proof: JSONColumnType<Record<string, unknown>>;
  tx_hash: Buffer | null;
  account_id: string | null;
  failure: string | null;
  attempts: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  check_at: Generated<Date>;
  closed_at: Date | null;
  from_block: Generated<bigint>;
  secret_hash: Buffer | null;
  handed_at: Date | null;
  final_at: Date | null;
}

export interface CardMovementsTable {
  id: string;
  payment_intent: string;
  amount_cents: number;
  created_at: Date;
}

export interface MoneyScansTable {
  name: string;
  position: bigint;
  net_u: Generated<bigint>;
  proved_position: bigint;
  proved_balance_u: bigint | null;
  created_at: Generated<Date>;
  reached_at: Date | null;
  due_at: Date;
}

export interface MisfitsTable {
  id: Generated<bigint>;
  source: 'chain' | 'card';
  reference: string;
  reason: string;
  amount_u: bigint;
  details: JSONColumnType<Record<string, string>>;
  first_seen_at: Generated<Date>;
  last_seen_at: Generated<Date>;
  closed_at: Date | null;
  closed_as: 'matched' | 'ignored' | null;
}
