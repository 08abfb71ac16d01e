/** Lets a fixed number through at once; the others wait in order, each until its signal aborts. */
export interface Gate {
  /** True when let in, false when the queue is full or the wait was aborted. */
  enter(signal: AbortSignal): Promise<boolean>;
  leave(): void;
}

export function gate(places: number, mostWaiting: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  return {
    enter(signal) {
      if (signal.aborted) return Promise.resolve(false);
      if (inside < places) {
        inside += 1;
        return Promise.resolve(true);
      }
      if (waiting.size >= mostWaiting) return Promise.resolve(false);
      return new Promise((resolve) => {
        const letIn = (): void => {
          signal.removeEventListener('abort', giveUp);
          resolve(true);
        };
        const giveUp = (): void => {
          waiting.delete(letIn);
          resolve(false);
        };
        waiting.add(letIn);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
    leave() {
      // The place passes on to the one who waits longest, so it never counts as free in between.
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else inside -= 1;
    },
  };
}
