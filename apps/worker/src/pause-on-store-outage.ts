import type { PollConsumer } from '@eloquentpoll/bus';
import type { Context } from './context.ts';

// A worker that cannot claim takes no jobs. It would finish each of them at once, sooner than workers that run polls, and
// so get nearly all: one machine without a way to Postgres would delay every poll until the next sweep, over and over.

/** A claim takes milliseconds; one that takes this long is not answered soon. */
const CLAIM_TIMEOUT_MS = 1_500;
const CHECK_EVERY_MS = 500;

export interface StoreOutage {
  /** Passes the claim on; when it fails, or has no answer in time, the consumer is paused and `giveBack` called, once. */
  watch<T>(claim: Promise<T>, giveBack: () => void): Promise<T>;
  stop(): void;
}

export function pauseOnStoreOutage(
  { polls, clock, log, random }: Pick<Context, 'polls' | 'clock' | 'log' | 'random'>,
  consumer: Pick<PollConsumer, 'pause' | 'resume'>,
  onReturn: () => void = () => {},
): StoreOutage {
  let paused = false;
  let stopped = false;
  let cancelCheck = (): void => {};

  function pause(): void {
    if (paused || stopped) return;
    paused = true;
    log.warn({}, 'queue.paused');
    consumer.pause();
    checkLater();
  }

  function checkLater(): void {
    cancelCheck = clock.after(CHECK_EVERY_MS * (0.75 + random() / 2), () => {
      polls.beat().then(resume, () => stopped || checkLater());
    });
  }

  function resume(): void {
    if (stopped) return;
    paused = false;
    log.info({}, 'queue.resumed');
    consumer.resume();
    onReturn();
  }

  return {
    async watch(claim, giveBack) {
      let isGivenBack = false;
      const lost = (): void => {
        pause();
        // A worker that reaches Postgres may take it, and this one when it does again.
        if (!isGivenBack && !stopped) giveBack();
        isGivenBack = true;
      };
      const cancelTimeout = clock.after(CLAIM_TIMEOUT_MS, lost);
      try {
        return await claim;
      } catch (error) {
        lost();
        throw error;
      } finally {
        cancelTimeout();
      }
    },
    stop() {
      stopped = true;
      cancelCheck();
    },
  };
}
