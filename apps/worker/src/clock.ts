/** Time as the poll engine sees it; a simulation brings its own. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls back once, unless cancelled by what it returns. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
