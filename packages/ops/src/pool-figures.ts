import type { Metrics } from './metrics.ts';

/** The state of a connection pool. */
export interface Pool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
}

export function poolFigures(metrics: Metrics, pool: Pool, size: number): void {
  metrics.reading('eloquentpoll_postgres_pool_connections', () => [
    [['busy'], pool.totalCount - pool.idleCount],
    [['idle'], pool.idleCount],
  ]);
  metrics.reading('eloquentpoll_postgres_pool_size', () => size);
  metrics.reading('eloquentpoll_postgres_pool_waiting', () => pool.waitingCount);
}
