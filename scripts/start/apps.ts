import { fileURLToPath } from 'node:url';
import { Failure } from '../launch/failure.mjs';
import type { Household, RunningProcess } from '../services/household.ts';

// Starts one process of the product and waits for its line {"msg":"ready"}. Its log goes to a file; warnings and errors
// are shown as they happen.

export interface AppSpec {
  name: string;
  /** Relative to the repository. */
  script: string;
  env: NodeJS.ProcessEnv;
  stage: number;
  patience_ms: number;
}

export interface RunningApp extends RunningProcess {
  /** What the ready line said. */
  ready: Record<string, unknown>;
}

/** What happens besides: where warnings are shown, and whether everything is being ended. */
export interface Surroundings {
  show(line: string): void;
  stopping: AbortSignal;
}

export type AppStarter = (household: Household, app: AppSpec, surroundings: Surroundings) => Promise<RunningApp>;

const START_MS = 60_000;
const WARN = 40;

export const startApp: AppStarter = async (household, app, { show }) => {
  const { promise: ready, resolve } = Promise.withResolvers<Record<string, unknown>>();
  let isReady = false;
  const running = household.start({
    name: app.name,
    file: process.execPath,
    args: [fileURLToPath(new URL(`../../${app.script}`, import.meta.url))],
    env: app.env,
    stage: app.stage,
    patience_ms: app.patience_ms,
    onLine: (line, stream) => {
      const entry = parse(line);
      if (entry?.msg === 'ready') {
        isReady = true;
        resolve(entry);
      }
      // Before that, its last words come with the failure.
      if (!isReady) return;
      const words = entry ? warningIn(entry) : stream === 'stderr' ? line : null;
      if (words) show(`  ! ${app.name.padEnd(12)} ${words}`);
    },
  });
  const timer = AbortSignal.timeout(START_MS);
  const timeout = new Promise<string>((end) => {
    timer.addEventListener('abort', () => end(`was not ready after ${START_MS / 1000} s`));
  });
  const first = await Promise.race([ready, running.ended, timeout]);
  if (typeof first === 'string') throw new Failure(`The ${app.name} ${first} before it was ready.`, running.lastLines);
  return Object.assign(running, { ready: first });
};

function parse(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

function warningIn(entry: Record<string, unknown>): string | null {
  if (typeof entry.level !== 'number' || entry.level < WARN) return null;
  const { err } = entry;
  const reason = err && typeof err === 'object' && 'message' in err ? `: ${err.message}` : '';
  return `${entry.msg ?? 'warning'}${reason}`.slice(0, 300);
}
