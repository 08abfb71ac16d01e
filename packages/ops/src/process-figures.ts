import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Metrics } from './metrics.ts';

// Figures of the process itself. Those of the event loop cover the time since the last scrape, so that one bad minute
// is not hidden by a week's average.

/** How often the loop is sampled. A finer resolution costs more than it shows. */
const RESOLUTION_MS = 20;
const NS_PER_S = 1e9;

export function processFigures(metrics: Metrics, build: { version: string; commit: string | null }): Disposable {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let utilization = performance.eventLoopUtilization();
  const startedAt = Math.round((performance.timeOrigin / 1_000) * 1_000) / 1_000;

  /** A measurement includes the sampling interval. The remainder is the lateness. */
  const lateS = (ns: number): number => Math.max(0, (Number.isFinite(ns) ? ns : 0) / NS_PER_S - RESOLUTION_MS / 1_000);
  metrics.reading('nodejs_eventloop_lag_p50_seconds', () => lateS(delay.percentile(50)));
  metrics.reading('nodejs_eventloop_lag_p99_seconds', () => lateS(delay.percentile(99)));
  metrics.reading('nodejs_eventloop_lag_max_seconds', () => {
    const worst = lateS(delay.max);
    delay.reset();
    return worst;
  });
  metrics.reading('nodejs_eventloop_utilization', () => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, utilization);
    utilization = now;
    return since.utilization;
  });
  metrics.reading('nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed);
  metrics.reading('nodejs_external_memory_bytes', () => process.memoryUsage().external);
  metrics.reading('process_resident_memory_bytes', () => process.memoryUsage.rss());
  metrics.reading('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.reading('process_start_time_seconds', () => startedAt);
  metrics.reading('process_open_fds', openFiles);
  const info = [metrics.process, build.version, build.commit ?? ''] as const;
  metrics.reading('eloquentpoll_build_info', () => [[info, 1]]);
  return { [Symbol.dispose]: () => void delay.disable() };
}

function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}
