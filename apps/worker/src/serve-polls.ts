import type { ServiceTier } from '@eloquentpoll/contracts';
import { keepAuditing } from './auditing.ts';
import { tryClaim } from './claim-poll.ts';
import type { Context } from './context.ts';
import { pauseAtCeiling } from './pause-at-ceiling.ts';
import { pauseOnStoreOutage } from './pause-on-store-outage.ts';
import { pauses } from './pauses.ts';
import { isSuspect, runPoll } from './run-poll.ts';
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
          const claimed = await outage.watch(tryClaim(context, pollId), () => giveBack(context, lane, pollId));
          if (!claimed) {
            if (lane === 'flex') await atCeiling?.unclaimed(pollId);
            return;
          }
          await runPoll(context, claimed, signal);
          if (isSuspect(claimed.claim)) sweeping.soon();
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
  const sweeping = keepSweeping(context);
  const outage = pauseOnStoreOutage(
    context,
    {
      pause() {
        for (const consumer of onOutage) consumer.pause();
      },
      resume() {
        for (const consumer of onOutage) consumer.resume();
      },
    },
    () => sweeping.soon(),
  );
  const yielding =
    pausesOfFlex &&
    yieldToStandard(context, {
      consumer: { ...pausesOfFlex(), limit: flexible.limit },
      most: mostFlex,
      standardRunning: () => standardRunning,
    });
  const atCeiling = pausesOfFlex && pauseAtCeiling(context, pausesOfFlex());
  const consumers = [standard, ...(flexible ? [flexible] : [])];
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
      atCeiling?.stop();
      await Promise.all([auditing?.stop(), ...consumers.map((consumer) => consumer.drain(withinMs))]);
    },
  };
}

/** Under an id of its own: this consumer has the job until its claim is answered. Without Redis the sweep finds the poll. */
function giveBack({ bus, log, random }: Context, lane: ServiceTier, pollId: string): void {
  const round = GIVEN_BACK + Math.floor(random() * GIVEN_BACK);
  bus.enqueuePoll(pollId, { lane, round }).catch((err) => log.warn({ poll_id: pollId, err }, 'poll.not_given_back'));
}

/** More than any poll has epochs, which are the rounds of other jobs. */
const GIVEN_BACK = 1_000_000;
