import type { Metrics, Tracer } from '@eloquentpoll/ops';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';

/** What every part of the process needs: settings, logs, metrics and traces. */
export interface ProcessContext {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Null when no collector is configured. */
  readonly tracer: Tracer | null;
}
