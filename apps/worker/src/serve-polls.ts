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

/** A running worker: it runs the polls from the queues and sweeps for lost ones. */
export interface Serving {
  /** Resolves when the worker can take polls. */
  ready(): Promise<void>;
  /** How many flex polls it may run at the moment. */
  readonly flexAllowed: number;
  /** Takes no more polls, lets the running ones finish within this time, and releases the rest to other workers. */
  drain(withinMs: number): Promise<void>;
}

export interface Slots {
  /** How many standard polls run at once. */
  concurrency: number;
  /** How many of these are kept for tenants with few running polls here. */
  reserved?: number;
  /** How many flex polls run in addition, and how many of those are kept in the same way. */
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

/**
 * Enqueues the poll under a new job id, because this consumer keeps the old job until its claim is answered. If Redis
 * is down, the sweep finds the poll.
 */
function giveBack({ bus, log, random }: Context, lane: ServiceTier, pollId: string): void {
  const round = GIVEN_BACK + Math.floor(random() * GIVEN_BACK);
  bus.enqueuePoll(pollId, { lane, round }).catch((err) => log.warn({ poll_id: pollId, err }, 'poll.not_given_back'));
}

/** More than the number of epochs of any poll. Other jobs use the epoch as their round. */
const GIVEN_BACK = 1_000_000;
