/** Of polls that run here: the processes that wait for their ends, as their jobs say. */
export interface AwaitedPolls {
  awaitedBy(pollId: string): string | undefined;
  /** A job of the poll; another of it may run already, or still. */
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
      // A job that a sweep made does not know.
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
