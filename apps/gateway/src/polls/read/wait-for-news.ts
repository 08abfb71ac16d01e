import type { PollsContext } from '../context.ts';
import { createBell } from '../run/latest-value.ts';
import { recordOf, stored } from './open-run.ts';
import { type SessionView, viewOfSnapshot } from './run-view.ts';

// A long poll: the caller has nothing else to do until there is news, so the answer waits for it. Subscribed first,
// then read again, then woken by what the worker announces; the end of a poll is noticed also when that was lost.

/** The session as it is when `isNews` says so, when the time is over, or when the signal aborts. */
export async function waitForNews(
  context: PollsContext,
  from: SessionView,
  isNews: (view: SessionView) => boolean,
  withinMs: number,
  stop: AbortSignal,
): Promise<SessionView> {
  const { bus, sessions, log } = context;
  const { pollId, owner } = from;
  const until = performance.now() + withinMs;
  const bell = createBell<'changed' | 'look'>();
  let latest = from;

  function hear(view: SessionView): void {
    if (latest.status !== 'running') return;
    if (view.status === 'running' && (view.seq ?? -1) <= (latest.seq ?? -1)) return;
    latest = view;
    if (view.status !== 'running') sessions.keep(view);
    bell.ring('changed');
  }

  const waiter = { ended: hear };
  sessions.watch(pollId, waiter);
  const watch = await bus
    .watchPoll(pollId, (snapshot) => (snapshot ? hear(viewOfSnapshot(owner, snapshot)) : bell.ring('look')))
    .catch((error) => {
      // The end is still noticed, a moment later.
      log.warn({ pollId, err: error }, 'poll not watched');
      return null;
    });
  try {
    bell.ring('look');
    while (!isNews(latest) && !stop.aborted) {
      const rung = await bell.next(until - performance.now(), stop);
      if (rung === undefined) break;
      if (rung === 'look') {
        const found = (await recordOf(context, pollId)) ?? (await stored(context, pollId));
        if (found) hear(found);
      }
    }
    return latest;
  } finally {
    sessions.unwatch(pollId, waiter);
    watch?.close();
  }
}
