import type { PollState } from './poll.ts';

/** A poll is immutable, and its decision, its readers and its result ask the same of it: each answer is worked out once. */
export function oncePerPoll<T extends object | number | null>(work: (poll: PollState) => T): (poll: PollState) => T {
  const known = new WeakMap<PollState, T>();
  return (poll) => {
    let answer = known.get(poll);
    if (answer === undefined) {
      answer = work(poll);
      known.set(poll, answer);
    }
    return answer;
  };
}
