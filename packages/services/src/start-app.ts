import { Failure } from '@eloquentpoll/launch/failure';
import { type Static, Type } from '@sinclair/typebox';
import { readJson } from './json.ts';
import type { ProcessGroup, RunningProcess } from './process-group.ts';

// Starts a Node program in a group and waits for its log line {"msg":"ready"}.

/** A JSON line of a program's log. */
const LogLine = Type.Record(Type.String(), Type.Unknown());
export type LogLine = Readonly<Static<typeof LogLine>>;

export interface AppSpec {
  name: string;
  /** The program's absolute path. */
  file: string;
  env: NodeJS.ProcessEnv;
  /** Lower stages end first when the group ends. */
  stage?: number;
  grace_ms?: number;
  /** `entry` is null for a line that is not JSON. */
  onLine?: (line: string, stream: 'stdout' | 'stderr', entry: LogLine | null) => void;
}

export interface RunningApp extends RunningProcess {
  /** The ready line. */
  ready: LogLine;
}

const START_MS = 60_000;

export async function startApp(group: ProcessGroup, app: AppSpec): Promise<RunningApp> {
  const { promise: ready, resolve } = Promise.withResolvers<LogLine>();
  const running = group.start({
    name: app.name,
    file: process.execPath,
    args: [app.file],
    env: app.env,
    stage: app.stage ?? 0,
    grace_ms: app.grace_ms ?? 5_000,
    onLine: (line, stream) => {
      const entry = parsed(line);
      if (entry?.msg === 'ready') resolve(entry);
      app.onLine?.(line, stream, entry);
    },
  });
  const { promise: late, resolve: onLate } = Promise.withResolvers<string>();
  const timer = setTimeout(onLate, START_MS, `was not ready after ${START_MS / 1000} s`);
  const first = await Promise.race([ready, running.ended, late]);
  clearTimeout(timer);
  if (typeof first !== 'string') return Object.assign(running, { ready: first });
  running.signal('SIGKILL');
  throw new Failure(`The ${app.name} ${first} before it was ready.`, running.lastLines);
}

/** A killed process may leave half a line. */
function parsed(line: string): LogLine | null {
  if (!line.startsWith('{')) return null;
  try {
    return readJson(LogLine, line);
  } catch {
    return null;
  }
}
