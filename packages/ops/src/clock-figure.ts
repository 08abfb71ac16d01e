import type { Metrics } from './metrics.ts';

/** How far this process's clock is from that of Postgres. A difference within the time of the query does not count. */
export function clockFigure(metrics: Metrics, askOther: () => Promise<number>, now: () => number = Date.now): void {
  metrics.reading('eloquentpoll_clock_ahead_seconds', async () => {
    const asked = now();
    const other = await askOther();
    const answered = now();
    const aheadMs = other < asked ? asked - other : Math.min(0, answered - other);
    return aheadMs / 1_000;
  });
}
