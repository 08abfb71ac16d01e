import type { Generated } from 'kysely';

export interface UsageCounts {
  polls: number;
  completed: number;
  failed: number;
  canceled: number;
  split_or_partial: number;
  cost_u: bigint;
  saved_u: bigint;
  ms_counts: string;
  cost_counts: string;
}

export interface UsageDaysTable extends UsageCounts {
  account_id: string;
  day: string;
  key_id: string;
  preset: string;
  surface: string;
}

export interface UsageLabelsTable extends UsageCounts {
  account_id: string;
  day: string;
  name: string;
  value: string;
}

export interface UsageNamesTable {
  account_id: string;
  day: string;
  name: string;
  value_count: number;
  summed: Generated<boolean>;
}

export interface UsageLabelMonthsTable extends UsageCounts {
  account_id: string;
  month: string;
  name: string;
  value: string;
}

export interface KeyLimitsTable {
  key_id: string;
  account_id: string;
  limit_u: bigint | null;
  reset: 'never' | 'daily' | 'monthly';
  period: string;
  spent_u: Generated<bigint>;
  held_u: Generated<bigint>;
  reached_in: string | null;
}
