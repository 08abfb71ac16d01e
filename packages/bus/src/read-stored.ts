import {
  PanelStanding,
  PollReading,
  Progress,
  ProgressSnapshot,
  Timing,
  Verdict,
  Vote,
  VoteResult,
} from '@eloquentpoll/contracts';
import { Ajv, type ValidateFunction } from 'ajv';

// Values from Redis are checked once, here, before they reach a vote or a reader. A value that does not match its
// schema counts as absent: Postgres has the poll. Unknown fields from a later release are kept.

export const STORED_KINDS = ['vote', 'snapshot', 'brief'] as const;
export type StoredKind = (typeof STORED_KINDS)[number];
/** Called for each value that was refused. */
export type OnRefused = (kind: StoredKind) => void;

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));

/** One validator instance per schema, because named shapes occur in several of these schemas. */
const checkOf = <T>(schema: object): ValidateFunction<T> =>
  new Ajv({
    strict: false,
    formats: { 'date-time': isTime },
    schemas: [VoteResult, Timing, Verdict, PanelStanding, PollReading],
  }).compile<T>(schema);

/** Compiled on first use: a process reads one or two of these kinds, and its start should not wait for the others. */
function reader<T>(schema: object): (text: string) => T | null {
  let isValid: ValidateFunction<T> | undefined;
  return (text) => {
    isValid ??= checkOf<T>(schema);
    try {
      const value: unknown = JSON.parse(text);
      return isValid(value) ? value : null;
    } catch {
      return null;
    }
  };
}

export const readVote = reader<Vote>(Vote);
export const readSnapshot = reader<ProgressSnapshot>(ProgressSnapshot);
/** A progress is four small numbers, so a busy gateway reads the same few texts for all polls. */
const validProgress = new Set<string>();
const MAX_VALID_PROGRESS = 1_000;
const readProgress = reader(Progress);
/** Whether a text is the JSON of a poll's progress, which is sent to callers unchanged. */
export function isProgressText(text: string): boolean {
  if (validProgress.has(text)) return true;
  if (readProgress(text) === null) return false;
  if (validProgress.size >= MAX_VALID_PROGRESS) validProgress.clear();
  validProgress.add(text);
  return true;
}
