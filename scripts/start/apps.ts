import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import * as services from '@eloquentpoll/services/start-app';

export interface ProductAppSpec extends Omit<services.AppSpec, 'file' | 'onLine'> {
  /** Relative to the repository. */
  script: string;
}

/** Shows warnings, and knows whether everything is shutting down. */
export interface StartSurroundings {
  show(line: string): void;
  stopping: AbortSignal;
}

export type AppStarter = (
  group: ProcessGroup,
  app: ProductAppSpec,
  surroundings: StartSurroundings,
) => Promise<services.RunningApp>;

/** Log level of pino. */
const WARN = 40;

/** Starts one process of the product. Its warnings and errors are shown from the moment it is ready. */
export const startProductApp: AppStarter = (group, { script, ...app }, { show }) => {
  let isReady = false;
  return services.startApp(group, {
    ...app,
    file: join(root, script),
    onLine: (line, stream, entry) => {
      isReady ||= entry?.msg === 'ready';
      // Earlier lines are shown only if the start fails.
      if (!isReady) return;
      const warning = entry ? warningIn(entry) : stream === 'stderr' ? line : null;
      if (warning) show(`  ! ${app.name.padEnd(12)} ${warning}`);
    },
  });
};

function warningIn({ level, msg, err }: services.LogLine): string | null {
  if (typeof level !== 'number' || level < WARN) return null;
  const reason = err && typeof err === 'object' && 'message' in err ? `: ${err.message}` : '';
  return `${msg ?? 'warning'}${reason}`.slice(0, 300);
}
