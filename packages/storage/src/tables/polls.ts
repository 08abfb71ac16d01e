import type {
  PanelName,
  PollResponse,
  PollSpec,
  PollStatus,
  ResultStatus,
  TerminationReason,
  VoteError,
} from '@eloquentpoll/contracts';
import type { Generated, JSONColumnType } from 'kysely';

export interface PollsTable {
  id: string;
  result_id: string;
  account_id: string | null;
  tenant: string | null;
  key_id: string | null;
  status: Generated<PollStatus>;
  schema_version: Generated<number>;
  spec: JSONColumnType<PollSpec>;
  entry_point: string;
  request_id: string | null;
  traceparent: string | null;
  lease_owner: string | null;
  lease_epoch: Generated<number>;
  lease_until: Date;
  claims: Generated<number>;
  created_at: Generated<Date>;
  deadline_at: Date;
  finished_at: Date | null;
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
  detail: JSONColumnType<PollResponse>;
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
