import type { PollStatus, ProgressSnapshot } from '@eloquentpoll/contracts';
import { isProgressText } from './read-stored.ts';

// The part of a snapshot that a status request needs, in a form that is cheap to read: five words in one field, the
// last of which is the JSON sent to the caller.

/** The status of a run. */
export interface Brief {
  owner: string;
  status: PollStatus;
  seq: number;
  resultId: string | null;
  /** `{"received":3,...}`, as sent to the caller. */
  progress: string;
}

const NONE = '-';

/** Without the owner, which precedes it in the record. No word contains a space: ids, numbers, JSON without spaces. */
export function briefOf({ seq, status, result_id, progress }: ProgressSnapshot): string {
  return `${seq} ${status} ${result_id ?? NONE} ${JSON.stringify(progress)}`;
}

export function readBrief(reply: string): Brief | null {
  const [owner, seq = '', status, resultId, progress] = reply.split(' ');
  if (!owner || !/^\d{1,9}$/.test(seq) || !isStatus(status) || !resultId || !progress || !isProgressText(progress))
    return null;
  return { owner, status, seq: Number(seq), resultId: resultId === NONE ? null : resultId, progress };
}

const isStatus = (word: string | undefined): word is PollStatus =>
  word === 'running' || word === 'completed' || word === 'failed';
