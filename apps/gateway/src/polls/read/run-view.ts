import type { Brief } from '@eloquentpoll/bus';
import type { PollStatus, ProgressSnapshot } from '@eloquentpoll/contracts';
import type { StoredRun } from '@eloquentpoll/storage';

// A run as its owner sees it, ready to send: clients poll it often, so nothing is parsed or built twice. While the poll
// runs its ETag is the number of the newest snapshot; after the end it is the status, because an end never changes.

export interface RunView {
  readonly pollId: string;
  /** The account that may see the run. */
  readonly owner: string | null;
  readonly status: PollStatus;
  readonly resultId: string | null;
  /** Number of the snapshot; null when only the status is known. */
  readonly seq: number | null;
  readonly tag: string;
  readonly body: string;
}

export function viewOfStored({ pollId, accountId, status, resultId }: StoredRun): RunView {
  const body = JSON.stringify({ session_id: pollId, status, result_id: resultId });
  return { pollId, owner: accountId, status, resultId, seq: null, tag: `"${status}"`, body };
}

/** A poll without an account has no owner. */
type Known = Omit<Brief, 'owner'> & { owner: string | null };

/** From the run record in Redis. Neither ids nor progress contain anything that JSON would have to escape. */
export function viewOfBrief(pollId: string, { owner, status, seq, resultId, progress }: Known): RunView {
  if (status !== 'running') return viewOfStored({ pollId, accountId: owner, status, resultId });
  const body = `{"session_id":"${pollId}","status":"running","result_id":null,"progress":${progress}}`;
  return { pollId, owner, status, resultId: null, seq, tag: `"${seq}"`, body };
}

/** From a snapshot that a worker announced. */
export function viewOfSnapshot(owner: string | null, snapshot: ProgressSnapshot): RunView {
  const { poll_id: pollId, status, seq, result_id: resultId, progress } = snapshot;
  return viewOfBrief(pollId, { owner, status, seq, resultId, progress: JSON.stringify(progress) });
}
