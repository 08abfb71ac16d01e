import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { type LogLine, type RunningApp, startApp } from '@eloquentpoll/services/start-app';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { COLLECTS_ON_SIGNAL } from '../fixture/collected-rss.ts';

// A process of the product whose log is counted and whose memory can be queried.

const Collected = Type.Object({
  msg: Type.Literal('memory.collected'),
  heap_bytes: Type.Integer(),
  code_bytes: Type.Integer(),
  external_bytes: Type.Integer(),
  rss_bytes: Type.Integer(),
  files: Type.Integer(),
});

/** Memory after a garbage collection. */
export interface CollectedMemory {
  /** Without compiled code. */
  heapBytes: number;
  codeBytes: number;
  externalBytes: number;
  rssBytes: number;
  files: number;
}

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

const ANSWER_MS = 10_000;
const [WARN, ERROR] = [40, 50];

export async function startWatched(
  group: ProcessGroup,
  { name, role, stage, bundles }: WatchedSpec,
  env: Readonly<Record<string, string>>,
): Promise<WatchedProcess> {
  const log: WatchedProcess['log'] = { bytes: 0, lines: 0, warnings: new Map(), errors: new Map() };
  let answered: (memory: CollectedMemory) => void = () => {};
  const app = await startApp(group, {
    name,
    stage,
    file: bundles ? join(bundles, role, 'main.js') : fileURLToPath(import.meta.resolve(`@eloquentpoll/${role}/main`)),
    env: { PATH: process.env.PATH ?? '', NODE_OPTIONS: COLLECTS_ON_SIGNAL, ...env },
    onLine: (line, _stream, entry) => {
      if (Value.Check(Collected, entry)) {
        const {
          heap_bytes: heapBytes,
          code_bytes: codeBytes,
          external_bytes: externalBytes,
          rss_bytes: rssBytes,
        } = entry;
        return answered({ heapBytes, codeBytes, externalBytes, rssBytes, files: entry.files });
      }
      log.bytes += Buffer.byteLength(line) + 1;
      log.lines += 1;
      if (entry) noteLevel(log, entry);
    },
  });
  return {
    ...{ name, role, app, log },
    async collectedMemory() {
      const { promise, resolve, reject } = Promise.withResolvers<CollectedMemory>();
      answered = resolve;
      const late = setTimeout(() => reject(new Error(`${name} did not say its memory within 10 s`)), ANSWER_MS);
      app.signal('SIGUSR2');
      try {
        return await promise;
      } finally {
        clearTimeout(late);
      }
    },
  };
}

function noteLevel(log: WatchedProcess['log'], { level, msg, err }: LogLine): void {
  if (typeof level !== 'number' || level < WARN) return;
  const cause = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : '';
  const text = `${String(msg)}${cause}`.replace(/\b\w*\d\w*\b/g, 'N').slice(0, 160);
  const counts = level < ERROR ? log.warnings : log.errors;
  counts.set(text, (counts.get(text) ?? 0) + 1);
}
