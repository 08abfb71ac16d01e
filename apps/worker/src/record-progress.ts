import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';
import type { Context } from './context.ts';
import { type LeasedPoll, logFields, ownerOf, untilDeadlineMs } from './run.ts';

// What a run writes to its record. A write that failed or was not answered is repeated until it succeeds or the run is
// over: a vote that is missing when the worker dies is asked for, and paid for, a second time.

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 1_000;

export interface ProgressRecord extends Disposable {
  open(snapshot: ProgressSnapshot): void;
  vote(vote: Vote, snapshot: ProgressSnapshot): void;
}

interface ProgressWrite {
  readonly seq: number;
  write(): Promise<boolean>;
}

/** The run does not wait for these writes. */
export function recordProgress({ bus, clock, log }: Context, { claim, abandon }: LeasedPoll): ProgressRecord {
  const { id: pollId, epoch } = claim;
  /** Writes that failed as far as this worker knows: at most the opening and each vote once. */
  const failed = new Set<ProgressWrite>();
  /** Retry rounds since the last successful write. */
  let rounds = 0;
  let cancelRetry: (() => void) | null = null;
  let isOver = false;

  function put(progress: ProgressWrite, isRepeated: boolean): void {
    failed.delete(progress);
    progress.write().then(
      (isOurs) => {
        rounds = 0;
        if (!isOurs) abandon(new Error('a newer worker has the poll'));
      },
      (error) => {
        if (!isRepeated) log.warn({ ...logFields(claim), err: error }, 'poll.progress_not_recorded');
        if (isOver) return;
        failed.add(progress);
        if (cancelRetry) return;
        cancelRetry = clock.after(Math.min(MIN_RETRY_MS * 2 ** rounds, MAX_RETRY_MS), repeat);
        rounds += 1;
      },
    );
  }

  /** Repeats them in order, so that watchers see every vote. The record ignores snapshots older than its newest. */
  function repeat(): void {
    cancelRetry?.();
    cancelRetry = null;
    for (const progress of [...failed].toSorted((one, other) => one.seq - other.seq)) put(progress, true);
  }

  function add({ seq }: ProgressSnapshot, write: ProgressWrite['write']): void {
    repeat();
    put({ seq, write }, false);
  }

  const { runs } = bus;
  return {
    open: (snapshot) => add(snapshot, () => runs.open(pollId, epoch, ownerOf(claim), snapshot, untilDeadlineMs(claim))),
    vote: (vote, snapshot) => add(snapshot, () => runs.vote(pollId, epoch, vote, snapshot, untilDeadlineMs(claim))),
    [Symbol.dispose]() {
      isOver = true;
      cancelRetry?.();
    },
  };
}
