import type { Context } from './context.ts';
import { restWithoutStore } from './rest-without-store.ts';
import { runPoll } from './run-poll.ts';
import { keepSweeping } from './sweep.ts';

/** A worker at work: it runs the polls that the queue brings, and looks for those that were lost. */
export interface Serving {
  /** Resolves when the first poll can be taken. */
  ready(): Promise<void>;
  /** Takes no further poll, lets the running ones finish within this time, and hands the rest to other workers. */
  drain(withinMs: number): Promise<void>;
}

export function servePolls(context: Context, concurrency: number): Serving {
  const rest = restWithoutStore(context, () => consumer);
  const watched = { ...context, polls: { ...context.polls, claim: rest.claim } };
  const consumer = context.bus.consumePolls({
    concurrency,
    run: (pollId, signal) => runPoll(watched, pollId, signal),
  });
  const sweeping = keepSweeping(context);
  return {
    ready: () => consumer.ready(),
    async drain(withinMs) {
      sweeping.stop();
      rest.stop();
      await consumer.drain(withinMs);
    },
  };
}
