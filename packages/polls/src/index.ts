export { accountTag, CELL, FIRST_CELL, routeOf } from './cells.ts';
export {
  deadlineMsOf,
  hedgeOf,
  isFree,
  isPaidByPool,
  laneOf,
  minVotesOf,
  OPERATOR_ENTRY,
  runLimitMsOf,
} from './panel-rules.ts';
export {
  isBatchId,
  isPollId,
  isResultId,
  newBatchId,
  newPollId,
  newResultId,
  pollIdsOfMonth,
  pollIdsOfResult,
  pollIdsSince,
  pollIdsUntil,
} from './poll-ids.ts';
export {
  atNoCost,
  type Charges,
  type PollOutcome,
  pollResponse,
  tallyByOption,
  voteResult,
  withCharges,
} from './poll-response.ts';
export { type AskedBy, holdOf, maxCostUsdOf, type PollOrder, specOf } from './poll-spec.ts';
export { pollState, recordRules, rulesOf, votingSeat, withVote } from './poll-state.ts';
export { type Receipted, receiptLeaf, receiptPrice, statementOfLeaf, statementText } from './receipt.ts';
export { type ReceiptSigner, receiptSigner } from './receipt-signer.ts';
export { readStored, responseJson, type StoredResponse, storedJson } from './response-json.ts';
export { type AskedPanel, rosterVersionOf } from './roster-version.ts';
export { finalSnapshot, type Moment, runningSnapshot } from './snapshots.ts';
export { type ProviderSpendLimits, spendCeiling } from './spend-ceiling.ts';
export {
  type Ended,
  endedVerdict,
  type OwnersFigures,
  ownersFigures,
  quotedVerdictOf,
  verdictOf,
} from './verdict-of.ts';
