import type { Generated } from 'kysely';

export interface ModelStandingsTable {
  model_id: string;
  next_at: Generated<Date>;
  failed: string | null;
  failed_at: Date | null;
  passes: Generated<number>;
  returns: Generated<number>;
}

export interface CanaryResultsTable {
  model_id: string;
  kind: string;
  returns: number;
  day: Date;
  tests: Generated<number>;
  failures: Generated<number>;
}

export interface CanaryDaysTable {
  day: Date;
  tests: Generated<number>;
  cost_u: Generated<bigint>;
}
