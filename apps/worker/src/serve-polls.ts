import { keepAuditing } from './auditing.ts';
import { tryClaim } from './claim-poll.ts';
import type { Context } from './context.ts';
import { pauseOnStoreOutage } from './pause-on-store-outage.ts';
import { runPoll } from './run-poll.ts';
import { keepSweeping } from './sweep.ts';

/** A worker at work: it runs the polls that the queue brings, and looks for those that were lost. */
export interface Serving {
  /** Resolves when the first poll can be taken. */
  ready(): Promise<void>;
  /** Takes no further poll, lets the running ones finish within this time, and hands the rest to other workers. */
  drain(withinMs: number): Promise<void>;
}

/** `reserved` of the `concurrency` slots are kept for tenants with few running polls here. */
export function servePolls(context: Context, concurrency: number, reserved = 0): Serving {
  const consumer = context.bus.consumePolls({
    concurrency,
    reserved,
    async run(pollId, signal) {
      const claimed = await outage.watch(tryClaim(context, pollId));
      if (claimed) await runPoll(context, claimed, signal);
    },
  });
  const outage = pauseOnStoreOutage(context, consumer);
  const sweeping = keepSweeping(context);
  const auditing = context.audits && keepAuditing(context, context.audits, { concurrency });
  return {
    ready: () => consumer.ready(),
    async drain(withinMs) {
      sweeping.stop();
      outage.stop();
      await Promise.all([auditing?.stop(), consumer.drain(withinMs)]);
    },
  };
}
