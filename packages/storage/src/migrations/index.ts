import { accounts } from './0001-accounts.ts';
import { ledger } from './0002-ledger.ts';
import { polls } from './0003-polls.ts';
import { payments } from './0004-payments.ts';
import { operations } from './0005-operations.ts';
import { ledgerAudit } from './0006-ledger-audit.ts';
import { audits } from './0007-audits.ts';
import { receipts } from './0008-receipts.ts';
import { canaries } from './0009-canaries.ts';
import { modelEvidence } from './0010-model-evidence.ts';
import { auditMonths } from './0011-audit-months.ts';
import { batches } from './0012-batches.ts';
import { webhooks } from './0013-webhooks.ts';
import { usage } from './0014-usage.ts';
import { retention } from './0015-retention.ts';
import { batchReports } from './0016-batch-reports.ts';
import { months, monthsAhead } from './0017-months.ts';
import { usageMonths } from './0018-usage-months.ts';
import { moves } from './0019-moves.ts';
import { claimSpend } from './0020-claim-spend.ts';
import { claimTime } from './0020-claim-time.ts';
import { pollCost } from './0020-poll-cost.ts';
import { keyHashes } from './0021-key-hashes.ts';
import { transferRules } from './0023-transfer-rules.ts';
import { pollRows } from './0024-poll-rows.ts';
import { deletedRuns } from './0025-deleted-runs.ts';
import { batchRowStatistics } from './0026-batch-row-statistics.ts';
import { movingFences } from './0027-moving-fences.ts';
import { batchEvents } from './0028-batch-events.ts';
import { finalDeposits } from './0029-final-deposits.ts';
import { actsBeginOnce } from './0030-acts-begin-once.ts';
import { removedEndpoints } from './0032-removed-endpoints.ts';
import { indexesOfAccounts } from './0033-indexes-of-accounts.ts';
import { auditDraws } from './0035-audit-draws.ts';
import { latePolls } from './0036-late-polls.ts';
import type { Migration } from './migration.ts';

/** In the order in which they are applied. New ones go to the end. */
export const migrations: readonly Migration[] = [
  accounts,
  ledger,
  polls,
  payments,
  operations,
  ledgerAudit,
  audits,
  receipts,
  canaries,
  modelEvidence,
  auditMonths,
  batches,
  webhooks,
  usage,
  retention,
  batchReports,
  months,
  monthsAhead,
  usageMonths,
  moves,
  claimSpend,
  claimTime,
  pollCost,
  keyHashes,
  transferRules,
  pollRows,
  deletedRuns,
  batchRowStatistics,
  movingFences,
  batchEvents,
  finalDeposits,
  actsBeginOnce,
  removedEndpoints,
  indexesOfAccounts,
  auditDraws,
  latePolls,
];
