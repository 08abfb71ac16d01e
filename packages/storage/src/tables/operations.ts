import type { Generated, JSONColumnType } from 'kysely';

export interface IdempotencyTable {
  principal: string;
  entry_point: string;
  key: string;
  fingerprint: string;
  poll_id: string | null;
  claim: string | null;
  claimed_until: Date | null;
  response: Buffer | null;
  created_at: Generated<Date>;
  expires_at: Date;
}

export interface DeadLettersTable {
  id: Generated<bigint>;
  poll_id: string;
  reason: string;
  claims: number;
  created_at: Generated<Date>;
  seen_at: Date | null;
  retried_as: string | null;
}

export interface HeartbeatsTable {
  service: string;
  minute: Date;
}

export interface ControlsTable {
  only_row: Generated<boolean>;
  polls_stopped: Generated<boolean>;
  free_polls_stopped: Generated<boolean>;
}

export interface OperatorLogTable {
  id: Generated<bigint>;
  action_id: string;
  at: Generated<Date>;
  operator: string;
  verb: string;
  subject: string;
  reason: string;
  outcome: string;
  facts: JSONColumnType<Record<string, string>>;
}
