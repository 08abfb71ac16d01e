import { performance } from 'node:perf_hooks';

export interface BusyLoop {
  /** The share of the time since it was asked last in which the event loop was not idle. */
  busyShare(): number;
}

export function busyLoop(): BusyLoop {
  let last = performance.eventLoopUtilization();
  return {
    busyShare() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
  };
}
