import { Progress, ProgressSnapshot, Timing, Verdict, Vote, VoteResult } from '@eloquentpoll/contracts';
import { Ajv, type ValidateFunction } from 'ajv';

// What Redis hands back is checked once, here, before it reaches a vote or a reader. A value that is not of its schema
// counts as absent: Postgres has the poll. Members that a later release adds are let through.

export const STORED_KINDS = ['vote', 'snapshot', 'brief'] as const;
export type StoredKind = (typeof STORED_KINDS)[number];
/** Called for each value that was refused. */
export type OnRefused = (kind: StoredKind) => void;

/** One instance each: shapes that stand in several of these schemas carry their names. */
const checkOf = <T>(schema: object): ValidateFunction<T> =>
  new Ajv({ strict: false, schemas: [VoteResult, Timing, Verdict] }).compile<T>(schema);

const reader =
  <T>(isValid: ValidateFunction<T>) =>
  (text: string): T | null => {
    try {
      const value: unknown = JSON.parse(text);
      return isValid(value) ? value : null;
    } catch {
      return null;
    }
  };

export const readVote = reader(checkOf<Vote>(Vote));
export const readSnapshot = reader(checkOf<ProgressSnapshot>(ProgressSnapshot));
const readProgress = reader(checkOf(Progress));
/** Whether a text is the JSON of a poll's progress, which goes on the wire as it is. */
export const isProgressText = (text: string): boolean => readProgress(text) !== null;
