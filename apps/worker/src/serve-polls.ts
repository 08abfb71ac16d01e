import type { ServiceTier } from '@eloquentpoll/contracts';
import { keepAuditing } from './auditing.ts';
import { tryClaim } from './claim-poll.ts';
import type { Context } from './context.ts';
import { pauseOnStoreOutage } from './pause-on-store-outage.ts';
import { pauses } from './pauses.ts';
import { runPoll } from './run-poll.ts';
import { keepSweeping } from './sweep.ts';
import { yieldToStandard } from './yield-to-standard.ts';

/** A worker at work: it runs the polls that the queues bring, and looks for those that were lost. */
export interface Serving {
  /** Resolves when the first poll can be taken. */
  ready(): Promise<void>;
  /** Flex polls that it may run for now. */
  readonly flexAllowed: number;
  /** Takes no further poll, lets the running ones finish within this time, and hands the rest to other workers. */
  drain(withinMs: number): Promise<void>;
}

export interface Slots {
  /** Standard polls that run at once. */
  concurrency: number;
  /** So many of them are kept for tenants with few running polls here. */
  reserved?: number;
  /** Flex polls that run beside them, and how many of those are kept in the same way. */
  flex?: { concurrency: number; reserved: number } | undefined;
}

export function servePolls(context: Context, { concurrency, reserved = 0, flex }: Slots): Serving {
  let standardRunning = 0;
  const consume = (lane: ServiceTier, slots: { concurrency: number; reserved: number }) =>
    context.bus.consumePolls({
      lane,
      ...slots,
      async run(pollId, signal) {
        if (lane === 'flex') await yielding?.turn();
        else standardRunning += 1;
        try {
          const claimed = await outage.watch(tryClaim(context, pollId));
          if (claimed) await runPoll(context, claimed, signal);
        } finally {
          if (lane === 'standard') standardRunning -= 1;
        }
      },
    });
  const standard = consume('standard', { concurrency, reserved });
  const flexible = flex && flex.concurrency > 0 ? consume('flex', flex) : null;
  const mostFlex = flex ? flex.concurrency - flex.reserved : 0;
  const pausesOfFlex = flexible && pauses(flexible);
  const onOutage = [standard, ...(pausesOfFlex ? [pausesOfFlex()] : [])];
  const outage = pauseOnStoreOutage(context, {
    pause() {
      for (const consumer of onOutage) consumer.pause();
    },
    resume() {
      for (const consumer of onOutage) consumer.resume();
    },
  });
  const yielding =
    pausesOfFlex &&
    yieldToStandard(context, {
      consumer: { ...pausesOfFlex(), limit: flexible.limit },
      most: mostFlex,
      standardRunning: () => standardRunning,
    });
  const consumers = [standard, ...(flexible ? [flexible] : [])];
  const sweeping = keepSweeping(context);
  const auditing = context.audits && keepAuditing(context, context.audits, { concurrency });
  return {
    async ready() {
      await Promise.all(consumers.map((consumer) => consumer.ready()));
    },
    get flexAllowed() {
      return yielding?.allowed ?? 0;
    },
    async drain(withinMs) {
      sweeping.stop();
      outage.stop();
      yielding?.stop();
      await Promise.all([auditing?.stop(), ...consumers.map((consumer) => consumer.drain(withinMs))]);
    },
  };
}
