import { type Logger, type Metrics, openLog, openMetrics } from '@eloquentpoll/ops';
import type { Config } from './config.ts';

export type { Logger } from '@eloquentpoll/ops';

/** Lines on stdout, or wherever a test looks at them. */
export function createLog(
  config: Config,
  stream?: { write(line: string): void },
  metrics: Metrics = openMetrics('gateway'),
): Logger {
  return openLog(metrics, config.logLevel, stream);
}
