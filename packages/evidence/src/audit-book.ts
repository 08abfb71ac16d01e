// The audits of one panel in one order, in the sequence in which they came: each is judged with the record as it stood
// before it, then teaches the record. Out of it come the record that brakes and the certificates that open the gate.
import {
  type Certificate,
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
  type TrackRecord,
} from '@eloquentpoll/voting';
import { evidenceBelow, evidenceOfRise, STRONG_EVIDENCE, TRIALS_OF_A_BLOCK, type Trials } from './e-value.ts';

export interface AuditedPoll extends HeardPoll {
  /** Of the seats, in the order of the votes. */
  readonly families: readonly string[];
}

export interface AuditRules {
  readonly panelSize: number;
  /** At most 1 - threshold of the early stops are to be wrong. */
  readonly threshold: number;
  readonly minVotes: number;
  /** Audits that the record remembers; the certificates count all of them. */
  readonly window: number;
}

export interface AuditBook {
  enter(audit: AuditedPoll): void;
  readonly record: TrackRecord;
  readonly certificates: Certificates;
  /** Early stops, and wrong ones. */
  readonly stops: Trials;
}

export function auditBook(rules: AuditRules): AuditBook {
  const situations = new Map<string, Outcomes>();
  const remembered: HeardPoll[] = [];
  const few = ledger(1 - rules.threshold);
  const many = ledger(1 - rules.threshold);
  const certificates = (): Certificates => ({ fewOptions: few.certificate(), manyOptions: many.certificate() });
  return {
    enter(audit) {
      const kind = audit.optionCount <= MAX_FEW_OPTIONS ? few : many;
      kind.enter(judged(audit, rules, { panelSize: rules.panelSize, situations, isAlarmed: false }));
      learn(situations, audit);
      remembered.push(audit);
      if (remembered.length > rules.window) learn(situations, remembered.shift()!, -1);
    },
    get record() {
      return { panelSize: rules.panelSize, situations: new Map(situations), isAlarmed: hasAlarm(certificates()) };
    },
    get certificates() {
      return certificates();
    },
    get stops() {
      return { trials: few.stops.trials + many.stops.trials, hits: few.stops.hits + many.stops.hits };
    },
  };
}

type Judgement = 'asked_all' | 'right_stop' | 'wrong_stop';

/** What this rule would have done, and whether the whole panel then elected the same. */
function judged({ optionCount, families, votes }: AuditedPoll, rules: AuditRules, record: TrackRecord): Judgement {
  const { threshold, minVotes } = rules;
  const seats = families.map((family) => ({ family, reserveU: 0n, failureRate: 0 }));
  let poll: PollState = newPoll({ optionCount, threshold, minVotes, maxCostU: 0n, hedge: 'one', record }, seats);
  let stoppedOn: number | null | undefined;
  for (const [seat, option] of votes.entries()) {
    poll = received(poll, { seat, option, billedU: 0n });
    if (stoppedOn === undefined && seat + 1 < votes.length && stopReason(poll) !== null)
      stoppedOn = standing(poll).leader;
  }
  if (stoppedOn === undefined) return 'asked_all';
  return stoppedOn === standing(poll).leader ? 'right_stop' : 'wrong_stop';
}

/** Once reached, certificate and alarm stay: both hold at every look. */
function ledger(promise: number) {
  const blocks: { trials: number; hits: number }[] = [];
  const stops = { trials: 0, hits: 0 };
  let [audits, isCertified, isAlarmed] = [0, false, false];
  return {
    stops,
    enter(judgement: Judgement) {
      audits += 1;
      if (judgement === 'asked_all') return;
      if (stops.trials % TRIALS_OF_A_BLOCK === 0) blocks.push({ trials: 0, hits: 0 });
      for (const counts of [stops, blocks.at(-1)!]) {
        counts.trials += 1;
        counts.hits += Number(judgement === 'wrong_stop');
      }
      isCertified ||= evidenceBelow(promise, stops) >= STRONG_EVIDENCE;
      isAlarmed ||= evidenceOfRise(promise, blocks) >= STRONG_EVIDENCE;
    },
    certificate: (): Certificate => ({ audits, isCertified, isAlarmed }),
  };
}
