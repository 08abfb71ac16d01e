import { monitorEventLoopDelay, performance } from 'node:perf_hooks';

/** Above them, a poll that runs here is slowed down by one more: by work of this process, or by others on its machine. */
const MAX_BUSY_SHARE = 0.5;
const MAX_DELAY_MS = 16;
const RESOLUTION_MS = 10;

export interface BusyLoop {
  /** Whether the event loop was busy, or late, since it was asked last. */
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
