import type { BatchOutcome, BatchSkipped, Metadata, NotRunReason } from '@eloquentpoll/contracts';
import type { PollOrder } from '@eloquentpoll/polls';
import type { Generated, JSONColumnType } from 'kysely';

export type StoredBatchStatus = 'loading' | 'running' | 'canceling' | 'completed' | 'canceled' | 'expired' | 'deleted';

export interface BatchesTable {
  id: string;
  account_id: string;
  key_id: string | null;
  status: Generated<StoredBatchStatus>;
  idempotency_key: string | null;
  fingerprint: string | null;
  metadata: Metadata | null;
  webhook_url: string | null;
  /** The event of the batch's end, if an endpoint or its webhook_url gets it. */
  event_id: string | null;
  max_cost_u: bigint | null;
  reserved_u: Generated<bigint>;
  cost_u: Generated<bigint>;
  has_gold: Generated<boolean>;
  skipped: BatchSkipped | null;
  total: Generated<number>;
  running: Generated<number>;
  succeeded: Generated<number>;
  partial: Generated<number>;
  failed: Generated<number>;
  canceled: Generated<number>;
  not_run: Generated<number>;
  not_run_reason: NotRunReason | null;
  runner_owner: string | null;
  runner_epoch: Generated<number>;
  runner_until: Generated<Date>;
  moved_at: Generated<Date>;
  created_at: Generated<Date>;
  loading_until: Date | null;
  keep_until: Date | null;
  expires_at: Date | null;
  cancel_requested_at: Date | null;
  ended_at: Date | null;
}

export interface BatchRowsTable {
  batch_id: string;
  line: number;
  custom_id: string;
  request: JSONColumnType<PollOrder> | null;
  gold: string | null;
  poll_id: string | null;
  /** Null for a row that waits, runs or was not run. */
  outcome: Exclude<BatchOutcome, 'not_run'> | null;
  error: string | null;
}
