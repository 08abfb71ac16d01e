import type {
  Metadata,
  PanelName,
  PollSpec,
  PollStatus,
  ResultStatus,
  ServiceTier,
  TerminationReason,
  VoteError,
} from '@eloquentpoll/contracts';
import type { StoredResponse } from '@eloquentpoll/polls';
import type { Generated, JSONColumnType } from 'kysely';

export interface PollsTable {
  id: string;
  result_id: string;
  account_id: string | null;
  tenant: string | null;
  key_id: string | null;
  awaited: boolean;
  status: Generated<PollStatus>;
  schema_version: Generated<number>;
  spec: JSONColumnType<PollSpec>;
  entry_point: string;
  request_id: string | null;
  traceparent: string | null;
  context_id: string | null;
  batch_id: string | null;
  batch_line: number | null;
  metadata: Metadata | null;
  webhook_url: string | null;
  is_close: Generated<boolean>;
  lease_owner: string | null;
  lease_epoch: Generated<number>;
  lease_until: Date;
  claims: Generated<number>;
  created_at: Generated<Date>;
  deadline_at: Date;
  lane: Generated<ServiceTier>;
  run_limit_ms: number | null;
  run_until: Date | null;
  finished_at: Date | null;
  canceled_at: Date | null;
  expires_at: Date | null;
  provider_max_u: bigint | null;
  spend_shard: number | null;
  spend_again_u: bigint | null;
  spend_at: Date | null;
  audit_version: string | null;
  provider_cost_u: bigint | null;
  aborted_calls: Generated<number>;
  aborted_cost_u: Generated<bigint>;
  unvoted_u: Generated<bigint>;
}

export interface PollLabelsTable {
  account_id: string;
  label: Buffer;
  created_at: Date;
  poll_id: string;
}

export interface ResultsTable {
  poll_id: string;
  result_id: string;
  account_id: string | null;
  status: ResultStatus;
  poll_type: Generated<string>;
  panel_name: PanelName;
  entry_point: string;
  simulated: boolean;
  winning_option: string | null;
  is_tie: boolean;
  early_terminated: boolean;
  termination_reason: TerminationReason | null;
  models_requested: number;
  models_succeeded: number;
  models_failed: number;
  models_skipped: number;
  total_cost_u: bigint;
  gather_ms: number;
  total_ms: number;
  detail: JSONColumnType<StoredResponse>;
  votes_u: bigint[] | null;
  failed_calls_u: Generated<bigint>;
  receipt_leaf: Buffer | null;
  expires_at: Date | null;
  emptied_at: Date | null;
  created_at: Generated<Date>;
}

export interface VotesTable {
  poll_id: string;
  seat: number;
  model_id: string;
  option: number | null;
  error: VoteError | null;
  latency_ms: number;
  billed_u: bigint;
  provider_cost_u: bigint | null;
  cost_u: Generated<bigint>;
  max_cost_u: Generated<bigint>;
  fault_u: Generated<bigint>;
  calls: number;
  searched: boolean;
  labels: string[];
}

export interface FeedbackTable {
  id: Generated<string>;
  account_id: string | null;
  poll_id: string;
  outcome_correct: boolean | null;
  confidence: number | null;
  notes: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface CallerDaysTable {
  caller: string;
  day: string;
  account_id: string | null;
  refusals: Generated<number>;
  other_failures: Generated<number>;
  fault_u: Generated<bigint>;
  free_u: Generated<bigint>;
  charged_u: Generated<bigint>;
}

export interface DeletedRunsTable {
  poll_id: string;
  deleted_at: Generated<Date>;
}

export interface ProviderSpendTable {
  shard: number;
  hour: Date;
  hour_u: Generated<bigint>;
  hour_held_u: Generated<bigint>;
  day: string;
  day_u: Generated<bigint>;
  day_held_u: Generated<bigint>;
}
