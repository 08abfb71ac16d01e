/** For each poll that runs here, the process that waits for its end, as named in its job. */
export interface AwaitedPolls {
  awaitedBy(pollId: string): string | undefined;
  /** A job of the poll begins. Another job of the same poll may already run, or still run. */
  begin(pollId: string, awaitedBy: string | undefined): Disposable;
}

interface Running {
  jobs: number;
  awaitedBy: string | undefined;
}

export function awaitedPolls(): AwaitedPolls {
  const polls = new Map<string, Running>();
  return {
    awaitedBy: (pollId) => polls.get(pollId)?.awaitedBy,
    begin(pollId, awaitedBy) {
      const running = polls.get(pollId) ?? { jobs: 0, awaitedBy: undefined };
      polls.set(pollId, running);
      running.jobs += 1;
      // Jobs made by a sweep do not name a waiting process.
      running.awaitedBy = awaitedBy ?? running.awaitedBy;
      return {
        [Symbol.dispose]() {
          running.jobs -= 1;
          if (running.jobs === 0) polls.delete(pollId);
        },
      };
    },
  };
}
