// The audits of one panel in one order, in sequence. Each is judged with the record from the audits before it, then
// added to that record. The book yields the track record, which lowers confidence, and the certificates, which open the
// gate.
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

/** If a lock ended the poll, there are fewer votes than seats, and the others could not change the winner. */
export interface AuditedPoll extends HeardPoll {
  /** Families of all seats of the panel: first those of the votes, in their order, then the others. */
  readonly families: readonly string[];
}

export interface AuditRules {
  readonly panelSize: number;
  /** The promise: at most 1 - threshold of the early stops are wrong. */
  readonly threshold: number;
  readonly minVotes: number;
}

/** The complete state of a book, as plain JSON. */
export interface AuditState {
  readonly few: StopLedger;
  readonly many: StopLedger;
  /** For each situation, the number of polls and how many of them the leader of that time won. */
  readonly situations: Readonly<Record<string, readonly [number, number]>>;
}

export interface AuditBook {
  enter(audit: AuditedPoll): void;
  /** Removes an audit from the track record. The certificates still count it. */
  forget(audit: HeardPoll): void;
  readonly record: TrackRecord;
  readonly certificates: Certificates;
  /** Stops by confidence, and how many of them were wrong. */
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

/** The track record of a panel of this size. */
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
 * Stops by a lock cannot be wrong, so they do not count: they are audited without any call, and would hide wrong stops
 * when audits of other stops expire. Exception: a panel in which a lock always comes before the minimum votes for
 * confidence has no other stops, so it is certified by those.
 */
const isStop = (reason: TerminationReason | null, { panelSize, minVotes }: AuditRules): boolean =>
  reason === 'confidence' || (reason === 'mathematical_lock' && panelSize < 2 * minVotes);

/** What this rule would have done, and whether the full panel then elected the same option. */
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
