/** The time that the poll engine uses. A simulation provides its own. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number;
  /** Calls back once. The returned function cancels the callback. */
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.max(0, ms));
    return () => clearTimeout(timer);
  },
};
