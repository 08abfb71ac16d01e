import type { PollConsumer } from '@eloquentpoll/bus';

type Pausable = Pick<PollConsumer, 'pause' | 'resume'>;

/** Lets several callers pause a consumer independently. It resumes when the last of them has resumed it. */
export function pauses(consumer: Pausable): () => Pausable {
  let holding = 0;
  return () => {
    let isHeld = false;
    return {
      pause() {
        if (isHeld) return;
        isHeld = true;
        holding += 1;
        if (holding === 1) consumer.pause();
      },
      resume() {
        if (!isHeld) return;
        isHeld = false;
        holding -= 1;
        if (holding === 0) consumer.resume();
      },
    };
  };
}
