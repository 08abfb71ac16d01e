export {
  type AgreementMatrix,
  agreementMatrix,
  effectiveVotes,
  effectiveVotesOf,
  errorCorrelations,
  type NamedAgreement,
} from './agreement.ts';
export {
  type AuditBook,
  type AuditedPoll,
  type AuditRules,
  type AuditState,
  auditBook,
  certificatesOf,
  EMPTY_BOOK,
  recordOf,
} from './audit-book.ts';
export {
  bandsOf,
  type CalibrationBand,
  calibrationBands,
  MIN_POLLS_OF_A_BAND,
  type StatedConfidence,
} from './calibration.ts';
export { choosePanels, type Halves, halvesOf, judgedPanel } from './choose-panels.ts';
export {
  evidenceAbove,
  evidenceBelow,
  evidenceOfRise,
  STRONG_EVIDENCE,
  TRIALS_OF_A_BLOCK,
  type Trials,
} from './e-value.ts';
export {
  addForecast,
  type Bin,
  type Forecast,
  type ForecastFigures,
  forecastFigures,
  noForecasts,
} from './forecast-sums.ts';
export type { GoldPoll, GoldSeat, GoldVote } from './gold-poll.ts';
export {
  AGREEMENT_EDGES,
  type AnswerSums,
  addGoldPoll,
  CONFIDENCE_EDGES,
  fullCost,
  type ModelSums,
  noAnswers,
  noPanel,
  type PanelSums,
  REPLAYED_THRESHOLDS,
  type RightSums,
  type ThresholdSums,
} from './gold-sums.ts';
export {
  type Interval,
  type Moments,
  meanInterval,
  momentsInterval,
  pairedInterval,
  shareBound,
  shareInterval,
} from './interval.ts';
export { failedTest, MAX_FAILURES, passesToReturn, type TestHistory, type TestKind } from './model-standing.ts';
export { isBelowItsBest, type PanelFigures, panelFigures } from './panel-figures.ts';
export {
  learnReliabilities,
  MIN_QUESTIONS,
  MIN_VOTES_OF_A_MODEL,
  type Reading,
  type Reliabilities,
  type Reliability,
  readingOf,
} from './reading.ts';
export { type ReadingFigures, readingFigures } from './reading-figures.ts';
export {
  addedSaid,
  EMPTY_SAID,
  type SaidPoll,
  type SaidTally,
  type StopFigures,
  saidTally,
  statesOf,
  stopFigures,
} from './said-tally.ts';
export { soundState } from './sound-state.ts';
export { addStop, noStops, type StopShares, type StopSums, savedOf, stopShares } from './stop-sums.ts';
export type { VotedQuestion } from './voted-question.ts';
