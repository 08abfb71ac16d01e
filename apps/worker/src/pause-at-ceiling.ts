import type { PollConsumer } from '@eloquentpoll/bus';
import type { Context } from './context.ts';

// Flex polls that do not fit under the ceiling of provider spend stay in the queue: a worker that finds one pauses its
// flex consumer. Otherwise it would take every job, be refused each time, and the sweep would enqueue them all again.

/** The ceiling may be raised at any time, so never pause until the end of the hour or day. */
const MAX_PAUSE_MS = 30_000;

export interface CeilingPause {
  /** Called when a flex poll could not be claimed. Pauses the consumer if the ceiling was the reason. Never rejects. */
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
