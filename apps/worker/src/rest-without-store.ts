import type { PollConsumer } from '@eloquentpoll/bus';
import type { Context } from './context.ts';
import type { PollStore } from './ports.ts';

// A worker that cannot claim takes no jobs. It would be done with each of them at once, sooner than those that run polls,
// and so get nearly all there are: one machine without a way to Postgres would keep every poll of the fleet waiting for
// the next sweep, over and over.

/** A claim takes milliseconds; one that takes so long is not answered soon. */
const PATIENCE_MS = 1_500;
const LOOK_EVERY_MS = 500;

export interface Rest {
  /** The store's own claim, watched. */
  readonly claim: PollStore['claim'];
  stop(): void;
}

export function restWithoutStore(
  { polls, clock, log, random }: Pick<Context, 'polls' | 'clock' | 'log' | 'random'>,
  consumer: () => Pick<PollConsumer, 'pause' | 'resume'>,
): Rest {
  let resting = false;
  let stopped = false;
  let cancel = (): void => {};

  function rest(): void {
    if (resting || stopped) return;
    resting = true;
    log.warn({}, 'no jobs are taken until the store answers');
    consumer().pause();
    lookAgain();
  }

  function lookAgain(): void {
    cancel = clock.after(LOOK_EVERY_MS * (0.75 + random() / 2), () => {
      polls.beat().then(
        () => {
          if (stopped) return;
          resting = false;
          consumer().resume();
        },
        () => stopped || lookAgain(),
      );
    });
  }

  return {
    async claim(...asked) {
      const patience = clock.after(PATIENCE_MS, rest);
      try {
        return await polls.claim(...asked);
      } catch (error) {
        rest();
        throw error;
      } finally {
        patience();
      }
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
