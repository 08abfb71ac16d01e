import { join } from 'node:path';
import { appProgram } from '@eloquentpoll/services/app-program';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { type LogLine, type RunningApp, startApp } from '@eloquentpoll/services/start-app';
import { COLLECTS_ON_SIGNAL, type CollectedMemory, memoryCollector } from '../fixture/collected-memory.ts';

// A process of the product whose log is counted and whose memory can be queried.

export interface WatchedProcess {
  readonly name: string;
  readonly role: 'gateway' | 'worker';
  readonly app: RunningApp;
  /** Statistics of its log so far. */
  readonly log: { bytes: number; lines: number; warnings: Map<string, number>; errors: Map<string, number> };
  collectedMemory(): Promise<CollectedMemory>;
}

interface WatchedSpec {
  name: string;
  role: WatchedProcess['role'];
  stage: number;
  bundles?: string | undefined;
}

const [WARN, ERROR] = [40, 50];

export async function startWatched(
  group: ProcessGroup,
  { name, role, stage, bundles }: WatchedSpec,
  env: Readonly<Record<string, string>>,
): Promise<WatchedProcess> {
  const log: WatchedProcess['log'] = { bytes: 0, lines: 0, warnings: new Map(), errors: new Map() };
  const memory = memoryCollector();
  const app = await startApp(group, {
    name,
    stage,
    file: bundles ? join(bundles, role, 'main.js') : appProgram(role),
    env: { PATH: process.env.PATH ?? '', NODE_OPTIONS: COLLECTS_ON_SIGNAL, ...env },
    onLine: (line, _stream, entry) => {
      if (memory.isAnswer(entry)) return;
      log.bytes += Buffer.byteLength(line) + 1;
      log.lines += 1;
      if (entry) noteLevel(log, entry);
    },
  });
  return {
    ...{ name, role, app, log },
    collectedMemory: () => memory.collect(app.pid),
  };
}

function noteLevel(log: WatchedProcess['log'], { level, msg, err }: LogLine): void {
  if (typeof level !== 'number' || level < WARN) return;
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  const text = `${String(msg)}${cause}`.replace(/\b\w*\d\w*\b/g, 'N').slice(0, 160);
  const counts = level < ERROR ? log.warnings : log.errors;
  counts.set(text, (counts.get(text) ?? 0) + 1);
}
