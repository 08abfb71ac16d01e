import type { PollState } from './poll.ts';

/** A poll is immutable, and several callers ask it the same questions. Each answer is computed once per poll. */
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
