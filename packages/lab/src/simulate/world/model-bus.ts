import type { ProgressSnapshot, Vote } from '@eloquentpoll/contracts';

// What Redis does for the poll engine, in memory: the record of a running poll with its fence, its channel, and the
// queue with the jobs taken from it. Each call is one command or script. A contract test compares it with the real
// ones.

interface Run {
  epoch: number;
  owner: string | null;
  snapshot: ProgressSnapshot | null;
  votes: Map<number, Vote>;
  /** Number of the newest snapshot from a worker that runs the poll. */
  seq: number;
  /** The epoch under which the poll ended. */
  endedBy: number | null;
}

export interface QueuedJob {
  readonly id: string;
  readonly pollId: string;
}

interface Job extends QueuedJob {
  /** When the job returns to the queue; null while it waits there. */
  until: number | null;
}

export interface ModelBus {
  open(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot): boolean;
  vote(pollId: string, epoch: number, vote: Vote, snapshot: ProgressSnapshot): boolean;
  end(pollId: string, epoch: number, owner: string, snapshot: ProgressSnapshot): boolean;
  takeOver(pollId: string, epoch: number): Vote[] | null;
  read(pollId: string): { owner: string | null; snapshot: ProgressSnapshot } | null;
  votes(pollId: string): Vote[];

  enqueue(pollId: string, round?: number): void;
  take(forMs: number): QueuedJob | null;
  /** No effect if the job waits again or is gone. */
  renew(jobId: string, forMs: number): void;
  /** Works even if another worker has the job by now. */
  done(jobId: string): void;
  /** Returns taken jobs to the queue that were not renewed in time. */
  bringBackLate(): void;
  jobs(): number;

  /** FLUSHALL, or a Redis that restarted empty. */
  flush(): void;
  readonly published: readonly { at: number; snapshot: ProgressSnapshot }[];
}

const newRun = (): Run => ({ epoch: 0, owner: null, snapshot: null, votes: new Map(), seq: -1, endedBy: null });

/** `onJob` is called when a job waits. */
export function modelBus(now: () => number, onJob: () => void = () => {}): ModelBus {
  const runs = new Map<string, Run>();
  const jobs = new Map<string, Job>();
  const published: { at: number; snapshot: ProgressSnapshot }[] = [];

  /** Null if a newer worker has the poll. */
  function fenced(pollId: string, epoch: number): Run | null {
    const run = runs.get(pollId) ?? newRun();
    if (run.epoch > epoch) return null;
    run.epoch = epoch;
    runs.set(pollId, run);
    return run;
  }

  function publish(run: Run, kept: ProgressSnapshot, sent: ProgressSnapshot): void {
    run.snapshot = kept;
    published.push({ at: now(), snapshot: sent });
  }

  /** Refuses snapshots after the end, and snapshots that are not newer than the newest. */
  function record(pollId: string, epoch: number, snapshot: ProgressSnapshot, more: (run: Run) => void): boolean {
    const run = fenced(pollId, epoch);
    if (!run) return false;
    if (run.endedBy === epoch) return true;
    more(run);
    if (snapshot.seq <= run.seq) return true;
    run.seq = snapshot.seq;
    publish(run, snapshot, snapshot);
    return true;
  }

  function add(id: string, pollId: string): void {
    if (jobs.has(id)) return;
    jobs.set(id, { id, pollId, until: null });
    onJob();
  }

  return {
    published,
    open: (pollId, epoch, owner, snapshot) =>
      record(pollId, epoch, snapshot, (run) => {
        run.owner = owner;
      }),
    vote: (pollId, epoch, vote, snapshot) =>
      record(pollId, epoch, snapshot, (run) => void run.votes.set(vote.seat, vote)),
    end(pollId, epoch, owner, snapshot) {
      const run = fenced(pollId, epoch);
      if (!run) return false;
      run.owner ??= owner;
      run.votes.clear();
      run.endedBy = epoch;
      publish(run, { ...snapshot, result: null }, snapshot);
      return true;
    },
    takeOver(pollId, epoch) {
      const run = fenced(pollId, epoch);
      return run && [...run.votes.values()];
    },
    read(pollId) {
      const run = runs.get(pollId);
      return run?.snapshot ? { owner: run.owner, snapshot: run.snapshot } : null;
    },
    votes: (pollId) => [...(runs.get(pollId)?.votes.values() ?? [])],

    enqueue: (pollId, round = 0) => add(round === 0 ? pollId : `${pollId}.${round}`, pollId),
    take(forMs) {
      for (const job of jobs.values()) {
        if (job.until !== null) continue;
        job.until = now() + forMs;
        return { id: job.id, pollId: job.pollId };
      }
      return null;
    },
    renew(jobId, forMs) {
      const job = jobs.get(jobId);
      if (job && job.until !== null) job.until = now() + forMs;
    },
    done(jobId) {
      if (typeof jobs.get(jobId)?.until === 'number') jobs.delete(jobId);
    },
    bringBackLate() {
      for (const job of [...jobs.values()]) {
        if (job.until === null || job.until > now()) continue;
        jobs.delete(job.id);
        add(job.id, job.pollId);
      }
    },
    jobs: () => jobs.size,

    flush() {
      runs.clear();
      jobs.clear();
    },
  };
}
