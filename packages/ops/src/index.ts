export { METRICS, type Metric, type MetricName, type Process } from './metric-table.ts';
