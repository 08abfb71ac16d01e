export {
  type AskingOrder,
  askingOrder,
  type Certificate,
  type Certificates,
  hasAlarm,
  MAX_FEW_OPTIONS,
  MIN_AUDITS,
  orderInEffect,
  type PricedSeat,
} from './asking-order.ts';
export { type Chances, chances, chancesOf } from './chances.ts';
export { type Conclusion, conclude } from './conclude.ts';
export { confidence } from './confidence.ts';
export { type Decision, decide } from './decide.ts';
export { type EstimateSeat, estimate, type PollEstimate } from './estimate.ts';
export { isLocked } from './mathematical-lock.ts';
export { type Bar, need } from './need.ts';
export { panelOrder } from './panel-order.ts';
export {
  type EndedVote,
  type Hedge,
  launched,
  newPoll,
  type PollState,
  type Rules,
  received,
  type SeatState,
  type VotingSeat,
} from './poll.ts';
export { reasoning } from './reasoning.ts';
export { type ReplayedVote, statesAfter } from './replay.ts';
export { seededRandom, shuffled } from './seeded-random.ts';
export { recordUsed, type Standing, seatsThatAre, standing } from './standing.ts';
export type { ResultStatus } from './status.ts';
export { highestStop, isSettled, stopReason, type TerminationReason } from './stop-rules.ts';
export { leader } from './tally.ts';
export { type HeardPoll, learn, type Outcomes, situationOf, type TrackRecord } from './track-record.ts';
export type { Band } from './verdict/agreement.ts';
export type { Part } from './verdict/headline.ts';
export {
  type Advice,
  type Verdict,
  type VerdictKind,
  type VerdictPoll,
  verdict,
  verdictText,
} from './verdict/verdict.ts';
export { failuresByCause, percentOf } from './verdict/words.ts';
