import type { ColumnType, Generated } from 'kysely';

export interface AccountMovesTable {
  id: string;
  account_id: string;
  direction: 'out' | 'in';
  kind: 'account' | 'rest';
  from_cell: string;
  to_cell: string;
  state: 'copying' | 'frozen' | 'left' | 'arrived' | 'abandoned';
  amount_u: Generated<bigint>;
  facts: ColumnType<unknown, string | undefined, string>;
  created_at: Generated<Date>;
  frozen_at: Date | null;
  left_at: Date | null;
  arrived_at: Date | null;
}

export interface MovedNamesTable {
  name: string;
  account_id: string;
}

export interface MovedResultsTable {
  poll_id: string;
  result_id: string;
  account_id: string;
  moved_on: string | null;
}

export interface MovedUsageTable {
  account_id: string;
  day: string;
  cost_u: bigint;
}
