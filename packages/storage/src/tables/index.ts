import type {
  AccountsTable,
  ApiKeysTable,
  IdentitiesTable,
  LoginsTable,
  NoncesTable,
  SavedPanelsTable,
} from './accounts.ts';
import type {
  AuditDrawsTable,
  AuditJobsTable,
  AuditMonthsTable,
  AuditsTable,
  RosterVersionsTable,
  TrackRecordsTable,
} from './audits.ts';
import type { BatchReportsTable } from './batch-reports.ts';
import type { BatchesTable, BatchRowsTable } from './batches.ts';
import type { CanaryDaysTable, CanaryResultsTable, ModelStandingsTable } from './canaries.ts';
import type { BalancesTable, TransfersTable } from './ledger.ts';
import type { ModelEvidenceTable } from './model-evidence.ts';
import type { MonthsTable } from './months.ts';
import type { AccountMovesTable, MovedNamesTable, MovedResultsTable, MovedUsageTable } from './moves.ts';
import type {
  ControlsTable,
  DeadLettersTable,
  HeartbeatsTable,
  IdempotencyTable,
  OperatorLogTable,
} from './operations.ts';
import type {
  CardMovementsTable,
  CheckoutsTable,
  DepositsTable,
  MisfitsTable,
  MoneyScansTable,
  ProcessorEventsTable,
} from './payments.ts';
import type {
  CallerDaysTable,
  DeletedRunsTable,
  FeedbackTable,
  PollLabelsTable,
  PollsTable,
  ProviderSpendTable,
  ResultsTable,
  VotesTable,
} from './polls.ts';
import type { ReceiptDaysTable, ReceiptLeavesTable, ReceiptPagesTable } from './receipts.ts';
import type {
  KeyLimitsTable,
  UsageDaysTable,
  UsageLabelMonthsTable,
  UsageLabelsTable,
  UsageNamesTable,
} from './usage.ts';
import type {
  WebhookDeliveriesTable,
  WebhookEndpointsTable,
  WebhookEventsTable,
  WebhookReceiversTable,
} from './webhooks.ts';

/** All tables, as the migrations create them. */
export interface Tables {
  months: MonthsTable;
  accounts: AccountsTable;
  identities: IdentitiesTable;
  api_keys: ApiKeysTable;
  logins: LoginsTable;
  nonces: NoncesTable;
  saved_panels: SavedPanelsTable;
  balances: BalancesTable;
  transfers: TransfersTable;
  polls: PollsTable;
  poll_labels: PollLabelsTable;
  batches: BatchesTable;
  batch_rows: BatchRowsTable;
  batch_reports: BatchReportsTable;
  results: ResultsTable;
  votes: VotesTable;
  caller_days: CallerDaysTable;
  deleted_runs: DeletedRunsTable;
  provider_spend: ProviderSpendTable;
  feedback: FeedbackTable;
  idempotency: IdempotencyTable;
  dead_letters: DeadLettersTable;
  heartbeats: HeartbeatsTable;
  controls: ControlsTable;
  operator_log: OperatorLogTable;
  checkouts: CheckoutsTable;
  processor_events: ProcessorEventsTable;
  deposits: DepositsTable;
  card_movements: CardMovementsTable;
  money_scans: MoneyScansTable;
  misfits: MisfitsTable;
  model_evidence: ModelEvidenceTable;
  roster_versions: RosterVersionsTable;
  audit_jobs: AuditJobsTable;
  audits: AuditsTable;
  audit_draws: AuditDrawsTable;
  audit_months: AuditMonthsTable;
  track_records: TrackRecordsTable;
  receipt_leaves: ReceiptLeavesTable;
  receipt_pages: ReceiptPagesTable;
  receipt_days: ReceiptDaysTable;
  model_standings: ModelStandingsTable;
  canary_results: CanaryResultsTable;
  canary_days: CanaryDaysTable;
  webhook_endpoints: WebhookEndpointsTable;
  webhook_events: WebhookEventsTable;
  webhook_receivers: WebhookReceiversTable;
  webhook_deliveries: WebhookDeliveriesTable;
  usage_days: UsageDaysTable;
  usage_label_months: UsageLabelMonthsTable;
  usage_labels: UsageLabelsTable;
  usage_names: UsageNamesTable;
  key_limits: KeyLimitsTable;
  account_moves: AccountMovesTable;
  moved_names: MovedNamesTable;
  moved_results: MovedResultsTable;
  moved_usage: MovedUsageTable;
}
