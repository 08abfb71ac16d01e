import type { PollConsumer } from '@eloquentpoll/bus';
import type { Context } from './context.ts';

// Flex polls that do not fit under the ceiling of provider spend keep their places in the queue: a worker that finds one takes no
// others for a while. It would take them all, only to be refused each, and the sweep would bring them back.

/** However long the hour or the day is: the ceiling may be raised. */
const MAX_PAUSE_MS = 30_000;

export interface CeilingPause {
  /** A flex poll was not claimed: pauses the consumer where that is for the ceiling. Never rejects. */
  unclaimed(pollId: string): Promise<void>;
  stop(): void;
}

export function pauseAtCeiling(
  { polls, clock, log }: Pick<Context, 'polls' | 'clock' | 'log'>,
  consumer: Pick<PollConsumer, 'pause' | 'resume'>,
): CeilingPause {
  let isPaused = false;
  let stopped = false;
  let cancel = (): void => {};

  function pause(ms: number): void {
    if (isPaused || stopped) return;
    isPaused = true;
    log.info({ ms }, 'flex.waits_for_ceiling');
    consumer.pause();
    cancel = clock.after(ms, () => {
      isPaused = false;
      consumer.resume();
    });
  }

  return {
    async unclaimed(pollId) {
      if (isPaused || stopped) return;
      try {
        const waitMs = await polls.spendWaitMs(pollId);
        if (waitMs !== null) pause(Math.min(waitMs, MAX_PAUSE_MS));
      } catch (err) {
        log.warn({ poll_id: pollId, err }, 'flex.look_failed');
      }
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
