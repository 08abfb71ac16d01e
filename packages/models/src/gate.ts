/** Admits a fixed number at a time. The others wait in order, each until its signal aborts. */
export interface Gate {
  /** True if admitted. False if the queue is full or the wait was aborted. */
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
      // The place goes directly to the one that has waited longest, so it is never counted as free in between.
      const [next] = waiting;
      if (next) {
        waiting.delete(next);
        next();
      } else inside -= 1;
    },
  };
}
