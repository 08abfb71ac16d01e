import type { ProgressSnapshot, SessionStatus } from '@eloquentpoll/contracts';

// The part of a snapshot that a status request needs, in a form that costs its reader nothing: four words, of which the
// last is already the JSON that goes on the wire.

/** How a session is doing. */
export interface Brief {
  owner: string;
  status: SessionStatus;
  seq: number;
  resultId: string | null;
  /** `{"received":3,...}`, as it is sent. */
  progress: string;
}

const NONE = '-';

/** No word holds a space: numbers, a status, an id, and JSON of numbers without blanks. */
export function briefOf({ seq, status, result_id, progress }: ProgressSnapshot): string {
  return `${seq} ${status} ${result_id ?? NONE} ${JSON.stringify(progress)}`;
}

export function readBrief(reply: unknown): Brief | null {
  const [owner, brief]: unknown[] = Array.isArray(reply) ? reply : [];
  if (typeof owner !== 'string' || typeof brief !== 'string') return null;
  const [seq, status, resultId, progress] = brief.split(' ');
  if (!progress || !isStatus(status)) return null;
  return { owner, status, seq: Number(seq), resultId: resultId === NONE ? null : (resultId ?? null), progress };
}

const isStatus = (word: string | undefined): word is SessionStatus =>
  word === 'running' || word === 'completed' || word === 'failed';
