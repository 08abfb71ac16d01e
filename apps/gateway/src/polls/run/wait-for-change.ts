import type { PollsContext } from '../context.ts';
import { type RunView, viewOfSnapshot, viewOfStored } from '../read/run-view.ts';
import { PollFollower } from './poll-follower.ts';
import { settleWithin } from './settle-within.ts';

/** A long poll: the run as soon as `isNews` accepts it, or as it is when time runs out or the signal aborts. */
export async function waitForChange(
  context: PollsContext,
  run: RunView,
  isNews: (run: RunView) => boolean,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<RunView> {
  const { pollId, owner, seq } = run;
  const { promise: changed, resolve } = Promise.withResolvers<void>();
  let latest = run;
  function hear(view: RunView): void {
    latest = view;
    if (isNews(view)) resolve();
  }
  using follower = new PollFollower(context);
  await follower.subscribe(pollId);
  follower.follow(
    pollId,
    {
      onSnapshot: (snapshot) => hear(viewOfSnapshot(owner, snapshot)),
      onEnd({ status, resultId }) {
        const ended = viewOfStored({ pollId, accountId: owner, status, resultId });
        context.runs.storeEnd(ended);
        hear(ended);
      },
    },
    { after: seq ?? -1, catchUp: true },
  );
  await settleWithin(changed, timeoutMs, stop);
  return latest;
}
