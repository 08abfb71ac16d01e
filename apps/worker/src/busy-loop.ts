import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/**
 * Above these limits, one more poll would slow down the polls that run here, because this process or another one on the
 * machine is busy.
 */
const MAX_BUSY_SHARE = 0.5;
const MAX_DELAY_MS = 16;
const RESOLUTION_MS = 10;

export interface BusyLoop {
  /** Whether the event loop was busy or late since the last call. */
  isStrained(): boolean;
  stop(): void;
}

export function busyLoop(): BusyLoop {
  let last = performance.eventLoopUtilization();
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    isStrained() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      const lateMs = delay.percentile(90) / 1e6;
      last = now;
      delay.reset();
      return utilization > MAX_BUSY_SHARE || lateMs > MAX_DELAY_MS;
    },
    stop() {
      delay.disable();
    },
  };
}
