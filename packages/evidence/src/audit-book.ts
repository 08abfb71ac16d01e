// The audits of one panel in one order, in the sequence in which they came: each is judged with the record as it stood
// before it, then teaches the record. Out of it come the record that brakes and the certificates that open the gate.
import {
  type Certificates,
  type HeardPoll,
  hasAlarm,
  learn,
  MAX_FEW_OPTIONS,
  newPoll,
  type Outcomes,
  type PollState,
  received,
  standing,
  stopReason,
  type TerminationReason,
  type TrackRecord,
} from '@eloquentpoll/voting';
import type { Trials } from './e-value.ts';
import { certificateOf, EMPTY_LEDGER, type Judgement, type StopLedger, withJudgement } from './stop-ledger.ts';

/** A lock may have ended it: then there are fewer votes than seats, and the others could not change the winner. */
export interface AuditedPoll extends HeardPoll {
  /** Of the whole panel's seats, those of the votes first and in their order. */
  readonly families: readonly string[];
}

export interface AuditRules {
  readonly panelSize: number;
  /** At most 1 - threshold of the early stops are to be wrong. */
  readonly threshold: number;
  readonly minVotes: number;
}

/** All that a book has to remember, as plain JSON. */
export interface AuditState {
  readonly few: StopLedger;
  readonly many: StopLedger;
  /** By situation: polls, and how many of them the leader of then won. */
  readonly situations: Readonly<Record<string, readonly [number, number]>>;
}

export interface AuditBook {
  enter(audit: AuditedPoll): void;
  /** Takes an audit that was entered out of the record; the certificates still count it. */
  forget(audit: HeardPoll): void;
  readonly record: TrackRecord;
  readonly certificates: Certificates;
  /** Stops on confidence, and wrong ones. */
  readonly stops: Trials;
  readonly state: AuditState;
}

export const EMPTY_BOOK: AuditState = { few: EMPTY_LEDGER, many: EMPTY_LEDGER, situations: {} };

export function auditBook(rules: AuditRules, earlier: AuditState = EMPTY_BOOK): AuditBook {
  const situations = situationsOf(earlier);
  let { few, many } = earlier;
  const promise = 1 - rules.threshold;
  return {
    enter(audit) {
      const judgement = judged(audit, rules, { panelSize: rules.panelSize, situations, isAlarmed: false });
      if (audit.optionCount <= MAX_FEW_OPTIONS) few = withJudgement(few, promise, judgement);
      else many = withJudgement(many, promise, judgement);
      learn(situations, audit);
    },
    forget: (audit) => learn(situations, audit, -1),
    get record() {
      return recordOf({ few, many, situations: Object.fromEntries(entriesOf(situations)) }, rules.panelSize);
    },
    get certificates() {
      return certificatesOf({ few, many });
    },
    get stops() {
      return { trials: few.stops.trials + many.stops.trials, hits: few.stops.hits + many.stops.hits };
    },
    get state() {
      return { few, many, situations: Object.fromEntries(entriesOf(situations)) };
    },
  };
}

export const certificatesOf = ({ few, many }: Pick<AuditState, 'few' | 'many'>): Certificates => ({
  fewOptions: certificateOf(few),
  manyOptions: certificateOf(many),
});

/** The record of a panel of this size. */
export const recordOf = (state: AuditState, panelSize: number): TrackRecord => ({
  panelSize,
  situations: situationsOf(state),
  isAlarmed: hasAlarm(certificatesOf(state)),
});

const situationsOf = ({ situations }: AuditState): Map<string, Outcomes> =>
  new Map(Object.entries(situations).map(([situation, [polls, won]]) => [situation, { polls, won }]));

const entriesOf = (situations: ReadonlyMap<string, Outcomes>): [string, [number, number]][] =>
  [...situations].map(([situation, { polls, won }]) => [situation, [polls, won]]);

/**
 * A lock is no stop that could be wrong: locks are audited without a call, and would hide wrong stops where jobs expire.
 * Only a panel that a lock stops before it has votes enough for its confidence has no other stops, and is certified by them.
 */
const isStop = (reason: TerminationReason | null, { panelSize, minVotes }: AuditRules): boolean =>
  reason === 'confidence' || (reason === 'mathematical_lock' && panelSize < 2 * minVotes);

/** What this rule would have done, and whether the whole panel then elected the same. */
function judged({ optionCount, families, votes }: AuditedPoll, rules: AuditRules, record: TrackRecord): Judgement {
  const { threshold, minVotes } = rules;
  const seats = families.map((family) => ({ family, reserveU: 0n, failureRate: 0 }));
  let poll: PollState = newPoll({ optionCount, threshold, minVotes, maxCostU: 0n, hedge: 'one', record }, seats);
  let stoppedOn: number | null | undefined;
  for (const [seat, option] of votes.entries()) {
    poll = received(poll, { seat, option, billedU: 0n });
    if (stoppedOn === undefined && seat + 1 < seats.length && isStop(stopReason(poll), rules))
      stoppedOn = standing(poll).leader;
  }
  if (stoppedOn === undefined) return 'asked_all';
  return stoppedOn === standing(poll).leader ? 'right_stop' : 'wrong_stop';
}
