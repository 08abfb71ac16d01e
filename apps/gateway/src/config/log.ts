import { type Logger, type Metrics, openLog, openMetrics } from '@eloquentpoll/ops';
import type { Config } from './config.ts';

export type { Logger } from '@eloquentpoll/ops';

/** Logs to stdout, or to a destination that a test reads. */
export function createLog(
  config: Config,
  stream?: { write(line: string): void },
  metrics: Metrics = openMetrics('gateway'),
): Logger {
  return openLog(metrics, config.logLevel, stream);
}
