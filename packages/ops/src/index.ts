export type { Counter, Histogram } from './cells.ts';
export { type Fleet, fleetFigures } from './fleet-figures.ts';
export { type LoopCheck, watchLoop } from './loop-check.ts';
export { METRICS, type Metric, type MetricName, type Process } from './metric-table.ts';
export { type Metrics, openMetrics } from './metrics.ts';
export { type Desk, type OpsPort, openOpsPort } from './ops-port.ts';
export { poolFigures } from './pool-figures.ts';
export { processFigures } from './process-figures.ts';
export { type Check, openReadiness, type Readiness, type Report } from './readiness.ts';
