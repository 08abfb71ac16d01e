import type { Metrics, Tracer } from '@eloquentpoll/ops';
import type { Config } from './config.ts';
import type { Logger } from './log.ts';

/** What every part of the process may use: its settings, and how it reports what it does. */
export interface ProcessContext {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Null where no collector is configured. */
  readonly tracer: Tracer | null;
}
