import type { PollConsumer } from '@eloquentpoll/bus';
import type { Context } from './context.ts';

// A worker that cannot claim takes no jobs. It would fail each job at once, sooner than other workers finish theirs,
// and so get nearly all jobs: one machine without a connection to Postgres would delay every poll until the next sweep.

/** A claim takes milliseconds. After this long, no answer is expected soon. */
const CLAIM_TIMEOUT_MS = 1_500;
const CHECK_EVERY_MS = 500;

export interface StoreOutage {
  /**
   * Returns the claim. If it fails or is not answered in time, the consumer is paused and `giveBack` is called, once.
   */
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
        // A worker that reaches Postgres can take the job, including this one after it has reconnected.
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
