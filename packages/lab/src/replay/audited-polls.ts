// The track record of a panel from a file of recorded votes: every question of it is an audited poll.
import { learn, type Outcomes, type TrackRecord } from '@eloquentpoll/voting';
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
