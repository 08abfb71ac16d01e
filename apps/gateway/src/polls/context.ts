import { type Health, openHealth } from '@eloquentpoll/models/health';
import { loadPanels, type Panels } from '@eloquentpoll/models/panels';
import type { AccountsContext } from '../accounts/context.ts';
import { type Config, ConfigError } from '../config/config.ts';
import { type SessionBatch, sessionBatch } from './read/run-batch.ts';
import { type SessionMemory, sessionMemory } from './read/run-memory.ts';

/** What accepting a poll and reading it needs. */
export interface PollsContext extends AccountsContext {
  readonly panels: Panels;
  /** How the models have done lately. */
  readonly health: Health;
  /** Reads runs from Redis, many at once. */
  readonly sessionBatch: SessionBatch;
  /** What this process knows of runs. */
  readonly sessions: SessionMemory;
}

export function openPollsContext(
  base: AccountsContext,
  owned: AsyncDisposableStack,
  overrides: Partial<PollsContext>,
): PollsContext {
  const { bus, config, keys, limiter, log, storage } = base;
  const panels = overrides.panels ?? openPanels(config);
  return {
    ...base,
    panels,
    health: overrides.health ?? openHealth({ redis: bus.redis, prefix: bus.prefix, panels }),
    sessionBatch: overrides.sessionBatch ?? sessionBatch({ bus, keys, limiter }),
    sessions: overrides.sessions ?? owned.use(sessionMemory(storage, log)),
  };
}

export function openPanels({ models }: Config): Panels {
  try {
    return loadPanels(models);
  } catch (error) {
    throw ConfigError.from('MODELS_FILE', error);
  }
}
