export {
  type Acceptance,
  type Accepted,
  acceptPoll,
  type IdempotencyKey,
  type NewPoll,
  type TenantLimits,
} from './accept-poll.ts';
export { pollAccepter } from './accept-together.ts';
export { type AccountRecord, readAccountRecord } from './account-record.ts';
export { type AccountClosing, closeAccount, freezeAccount, type Shut, unfreezeAccount } from './account-status.ts';
export { type Account, AccountClosed, createAccount, findAccount, noteEmail } from './accounts.ts';
export {
  type ApiKeyToStore,
  changeKey,
  findKeyByHash,
  findOwnKeyByHash,
  insertKey,
  type KeyTermsChange,
  keysEndedLately,
  listKeys,
  MAX_ACTIVE_KEYS,
  MAX_KEYS_PER_PAGE,
  NoLimitToReset,
  ownsKey,
  revokeAllKeys,
  revokeKey,
  type StoredApiKey,
  TooManyKeys,
  touchKeys,
} from './api-keys.ts';
export { type AuditMonth, countAudits, readAuditMonths, recountAudits } from './audit-months.ts';
export {
  type Audit,
  type AuditClaim,
  type AuditTerms,
  type ClaimedAudit,
  claimAudit,
  type FinishedAudit,
  finishAudit,
  readAudits,
  UNMADE_AUDITS,
  type UnmadeAudit,
} from './audits.ts';
export {
  findBatchReport,
  type GoldRow,
  type JudgedPoll,
  readGoldRows,
  type StoredBatchReport,
  storeBatchReport,
} from './batch-reports.ts';
export { readBatchRows, readCloseRows, type StoredBatchRow } from './batch-rows.ts';
export {
  acceptBatchPolls,
  type BatchEnding,
  type BatchPolls,
  type BatchRowAnswer,
  type ClaimedBatch,
  claimBatches,
  countUnattendedBatches,
  endBatch,
  failBatchRows,
  type NewBatchPoll,
  type RunnersBatch,
  renewBatch,
  runningPollsOfBatch,
  type WaitingRow,
  waitingFlexPolls,
  waitingRows,
} from './batch-runs.ts';
export {
  addBatchRows,
  type BatchStart,
  findBatchKey,
  type NewBatch,
  type NewBatchRow,
  openBatch,
  type RepeatedCustomId,
  type StartedBatch,
  startBatch,
} from './batch-uploads.ts';
export {
  type BatchLine,
  cancelBatch,
  deleteBatch,
  findBatch,
  listBatches,
  readBatchLines,
  type StoredBatch,
} from './batches.ts';
export {
  bringModelBack,
  type CanaryTerms,
  type ClaimedCanary,
  claimCanary,
  type FailedModel,
  finishCanary,
  type ModelStanding,
  readFailedModels,
  readModelStanding,
  takeModelOut,
} from './canaries.ts';
export { type Cancellation, cancelPoll, wasCanceled } from './cancel-poll.ts';
export {
  closeAlikeMisfits,
  type NewCardMovement,
  storeCardMovements,
  type UnlikePayment,
  unlikePayments,
} from './card-movements.ts';
export { compareCells } from './cells/compare-cells.ts';
export { leadHome } from './cells/lead-home.ts';
export {
  type CellDatabase,
  type MoveStep,
  type MoveTerms,
  moveAccount,
  problemsWithMove,
} from './cells/move-account.ts';
export {
  nameOfIdentity,
  nameOfKey,
  refuseMovedLogin,
  refuseMovedName,
  refuseMovedResult,
} from './cells/moved-names.ts';
export { abandonMove, findOpenMove, MoveRefused } from './cells/moves.ts';
export { routerMaps } from './cells/router-maps.ts';
export { settleMoves } from './cells/settle-moves.ts';
export { whileMoving } from './cells/while-moving.ts';
export { checkLedger, type LedgerViolation } from './check-ledger.ts';
export { checkWholeLedger, type LedgerCheckStep } from './check-whole-ledger.ts';
export {
  type CheckoutFacts,
  claimReturn,
  dueCheckouts,
  findCheckout,
  findCheckoutToRefund,
  followCheckout,
  openCheckout,
  publishCheckout,
  recentCheckouts,
  recreateCheckout,
  type StoredCheckout,
  unpaidCheckouts,
} from './checkouts.ts';
export { type Claim, claimOverdue, claimPoll, DEATHS_BEFORE_SUSPECT, pollClaimer, spendWaitMs } from './claims.ts';
export { storageTime } from './clock.ts';
export { closeBooks } from './close-books.ts';
export { emptyClosedAccounts, emptyPollsOfClosed, forgetClosedAccounts } from './closed-accounts.ts';
export { type Controls, readControls, setControl } from './controls.ts';
export { isCredentialOpen, type PresentedCredential } from './credentials.ts';
export { type BuriedPoll, buriedPolls, noteBuriedSeen, noteRetried } from './dead-letters.ts';
export { deletePoll, emptyExpiredPolls, emptyPolls, type PollDeletion } from './delete-polls.ts';
export { repeatDeletions } from './deleted-runs.ts';
export {
  bookTransfer,
  type IncomingTransfer,
  matchTransfer,
  type TransferMatch,
  transferOfMisfit,
} from './deposit-transfers.ts';
export {
  type Authorization,
  closeDeposit,
  creditDeposit,
  type DepositStanding,
  failDeposit,
  findCreditedDeposit,
  firstDepositBlock,
  isKnownDeposit,
  leaveDeposit,
  noteHanded,
  noteSettled,
  type OfferedDeposit,
  type Reservation,
  refundableU,
  reserveDeposit,
  reservedAlready,
  type WatchedDeposit,
  watchedDeposits,
} from './deposits.ts';
export {
  AccountMoving,
  isStorageError,
  mayBeDone,
  StorageBusy,
  type StorageError,
  StorageRefused,
  StorageUnavailable,
} from './errors.ts';
export {
  type BatchPlace,
  batchPlacesOf,
  type ExportedTransfer,
  feedbackAfter,
  type GivenFeedback,
  type PollPlace,
  pollsAfter,
  transfersAfter,
} from './export-account.ts';
export { type Feedback, readFeedbackSummary, type StoredFeedbackSummary, storeFeedback } from './feedback.ts';
export { primaryUrl } from './find-primary.ts';
export {
  type AbortedCalls,
  bury,
  type Finish,
  type Finished,
  type FinishedPoll,
  type FreeFailures,
  finishPoll,
  pollFinisher,
} from './finish-poll.ts';
export { type FleetFigures, readFleetFigures } from './fleet-figures.ts';
export { APP_ROLES, GATEWAY_ROLE, WORKER_ROLE } from './grants.ts';
export type { HeardAudit } from './heard-audit.ts';
export { beat, uptime } from './heartbeats.ts';
export { type HoldBackRules, releaseHeldBack } from './hold-back.ts';
export { claimKey, completeKey, findPollOfKey, forgetPollKey, type KeyClaim, releaseKey } from './idempotency.ts';
export {
  admitIdentity,
  admitPayer,
  findIdentity,
  findWallet,
  hasOwnKey,
  type Identity,
  type KnownIdentity,
  linkIdentity,
  listIdentities,
  noteOwnKey,
} from './identities.ts';
export { inSteps, untilShort } from './in-steps.ts';
export {
  type KeepingRules,
  type KnownTrackRecord,
  keepTrackRecords,
  type TrackRecords,
} from './kept-track-records.ts';
export {
  findKeyLimit,
  type KeyLimit,
  type KeyLimitTerms,
  type KeySpend,
  readKeySpend,
} from './key-limits.ts';
export {
  type FoundPoll,
  findLapsed,
  findOverdue,
  LEASE_MS,
  type Lease,
  nextLapse,
  type Renewed,
  releaseLease,
  renewLeases,
} from './leases.ts';
export {
  balanceOf,
  capture,
  creditAccount,
  hold,
  isBooked,
  type LedgerBalance,
  type Movement,
  reverseCredit,
  voidHold,
} from './ledger.ts';
export { checkLedgerInTurn, type LedgerRound } from './ledger-checks.ts';
export { listPolls, type PollPage } from './list-polls.ts';
export { type ListedOutcome, readOutcomes } from './listed-outcomes.ts';
export { type LockName, withLock } from './locks.ts';
export { closeLogin, closeLogins, findLogin, insertLogin, isRecentLogin, type StoredLogin } from './logins.ts';
export { isLostDeposit, noteLostDeposit, noteMetDeposit, unmetDeposits } from './lost-deposits.ts';
export { setLowBalance } from './low-balance.ts';
export { meanRunMs } from './mean-run.ts';
export { type MigrationProgress, migrate, OtherSchema } from './migrate.ts';
export { stepHashes } from './migrations/tables-hash.ts';
export { closeMisfit, type Misfit, type NewMisfit, noteMisfit, openMisfits } from './misfits.ts';
export {
  auditedVotes,
  type ModelEvidence,
  newestModelEvidence,
  recentVotes,
  storeModelEvidence,
  type VotedAudit,
  type VotedPoll,
} from './model-evidence.ts';
export { type MoneyInFigures, readMoneyFigures } from './money-figures.ts';
export { advanceScan, claimScan, type MoneyScan, proveScan, rewindScan, scanReachedAt } from './money-scans.ts';
export { dropMonths, makeMonths, withMonthsLock } from './months.ts';
export { consumeNonce, findNonce, issueNonce, type NewNonce, type Nonce } from './nonces.ts';
export { openStorage, type Queries, type Storage, type StorageOptions } from './open-storage.ts';
export {
  beginAct,
  type EarlierAct,
  type LoggedAct,
  noteAct,
  type OperatorAct,
  readOperatorLog,
} from './operator-log.ts';
export { findPollLines, type PollLine } from './poll-lines.ts';
export { findPoll, findPollByResult, findRunStates, type Poll, type StoredRun } from './polls.ts';
export { noteProcessorEvent, unseenProcessorEvents } from './processor-events.ts';
export {
  type CallerFailures,
  type ClaimCeiling,
  failuresByCaller,
  type ProviderSpend,
  readProviderSpend,
  type SpendCeiling,
} from './provider-spend.ts';
export {
  findReceiptProof,
  findReceiptSource,
  type ReceiptSource,
  readReceiptDays,
  type StoredProof,
  type StoredReceiptDay,
} from './receipts.ts';
export {
  openReplica,
  type PrimaryReason,
  type Replica,
  type ReplicaOptions,
  type ReplicaRead,
  type ReplicaState,
} from './replica.ts';
export {
  REPUTATION_DAYS,
  REPUTATION_POLLS,
  type ReputationRequest,
  readReputation,
  type StoredModelReputation,
  type StoredReputation,
} from './reputation.ts';
export {
  findResult,
  findResultOfPoll,
  findResultsOfPolls,
  type Result,
  type ResultLine,
  readHistory,
  readRecentResults,
} from './results.ts';
export { roleTimeouts } from './role-timeouts.ts';
export { noteRosterVersion, type RosterVersion, readRosterVersions } from './roster-versions.ts';
export { type FailedPoll, failedPolls, freeLease, type RunningPoll, runningPolls } from './running-polls.ts';
export { pollsOfQuestion, type SameQuestion } from './same-question.ts';
export {
  findSavedPanel,
  listSavedPanels,
  MAX_SAVED_PANELS,
  removeSavedPanel,
  type StoredPanel,
  savePanel,
} from './saved-panels.ts';
export type { PollFilter } from './scan-polls.ts';
export { sealReceipts } from './seal-receipts.ts';
export { pruneExpired, withSweepLock } from './sweep.ts';
export { AUDIT_POOL, FREE_POOL, type FundingSource, REVENUE } from './system-accounts.ts';
export {
  listTaskPolls,
  NAMED_TASK,
  TASK,
  type TaskFilter,
  type TaskPage,
  type TaskPosition,
} from './task-polls.ts';
export {
  AUDIT_WINDOW,
  type Lesson,
  learnAudits,
  readTrackRecord,
  readTrackRecords,
  restartTrackRecord,
  type StoredTrackRecord,
} from './track-records.ts';
export { inTransaction } from './transaction.ts';
export {
  readUsageGroups,
  readUsageTotal,
  type StoredUsage,
  type StoredUsageGroup,
  type UsageFilter,
  type UsageGrouping,
  type UsageRange,
  WITHOUT_KEY,
} from './usage.ts';
export {
  type AttemptOutcome,
  type ClaimedDelivery,
  type ClaimTerms,
  claimDeliveries,
  endAttempt,
  readWebhookFigures,
  spreadWebhookEvents,
} from './webhook-deliveries.ts';
export {
  changeWebhookEndpoint,
  type EndpointChange,
  ensureAccountEndpoint,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
  removeWebhookEndpoint,
  rotateWebhookSecret,
  type StoredWebhookEndpoint,
  testWebhookEndpoint,
} from './webhook-endpoints.ts';
export { findDelivery, listDeliveries, resendDelivery, type StoredDelivery } from './webhook-log.ts';
