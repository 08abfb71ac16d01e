// The track record of a panel from a file of recorded votes: every question of it is an audited poll.
import { auditBook } from '@eloquentpoll/evidence';
import { learn, MIN_AUDITS, type Outcomes, type TrackRecord } from '@eloquentpoll/voting';
import { makerOf } from './families.ts';
import type { RecordedPoll } from './recorded-poll.ts';

export function trackRecordOf(audited: readonly RecordedPoll[], panelSize: number): TrackRecord {
  const situations = new Map<string, Outcomes>();
  for (const poll of audited) learn(situations, heard(poll));
  return { panelSize, situations, isAlarmed: false };
}

const heard = ({ question, votes }: RecordedPoll) => ({ optionCount: question.optionCount, votes });

const FOLDS = 10;

/** Every poll with a record of the other folds: a poll never judges itself. */
export function crossFitted(polls: readonly RecordedPoll[], panelSize: number): RecordedPoll[] {
  const folds = Array.from({ length: FOLDS }, (_, fold) =>
    trackRecordOf(
      polls.filter((_, i) => i % FOLDS !== fold),
      panelSize,
    ),
  );
  return polls.map((poll, i) => ({ ...poll, record: folds[i % FOLDS]! }));
}

/** The gate of a panel that is audited from its first poll on. */
export interface AuditGate {
  /** Audits after which it opens; null where it stays shut. */
  readonly opensAfter: number | null;
  readonly isAlarmed: boolean;
  /** Share of the early stops that were wrong, each judged by the record of the audits before it. */
  readonly wrongStops: number;
}

export function gateOf(audited: readonly RecordedPoll[], panelSize: number, threshold: number): AuditGate {
  const book = auditBook({ panelSize, threshold, minVotes: 3 });
  let opensAfter: number | null = null;
  for (const [i, poll] of audited.entries()) {
    book.enter({ ...heard(poll), families: poll.models.map(makerOf) });
    const { audits, isCertified } = book.certificates.manyOptions;
    if (opensAfter === null && isCertified && audits >= MIN_AUDITS) opensAfter = i + 1;
  }
  const { stops, record } = book;
  return { opensAfter, isAlarmed: record.isAlarmed, wrongStops: stops.hits / Math.max(1, stops.trials) };
}
