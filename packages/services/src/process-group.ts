import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Failure } from '@eloquentpoll/launch/failure';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import { type Static, Type } from '@sinclair/typebox';
import { bareEnvironment } from './bare-environment.ts';
import { readJson } from './json.ts';
import { LogFile } from './log-file.ts';
import { removeTemporary } from './remove-temporary.ts';
import { isAlive, OwnedProcess, type StopSignal, stopProcesses } from './stop-processes.ts';

// Owns every process that runs for one data folder. They never outlive us: we stop them in order; if we are killed, the
// guard stops them; if the guard is killed too, the next group of this folder reads the list and stops them.

export const GuardMessage = Type.Union([
  Type.Object({ started: OwnedProcess }),
  Type.Object({ ended: Type.Integer() }),
  Type.Object({ temporary: Type.String() }),
]);
type GuardMessage = Static<typeof GuardMessage>;

export interface ProcessSpec {
  name: string;
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number | undefined;
  gid?: number | undefined;
  stage: number;
  signal?: StopSignal;
  lastSignal?: StopSignal;
  grace_ms: number;
  /** Written to the process's standard input, which is then closed. */
  input?: string;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RunningProcess {
  name: string;
  pid: number;
  /** Resolves, never rejects; both fields are null if it could not be started. */
  exited: Promise<Exit>;
  /** The same as text: "was ended by SIGKILL". */
  ended: Promise<string>;
  hasEnded: boolean;
  /** The last lines of both streams. */
  lastLines: string[];
  /** Does nothing after the process has ended. */
  signal(signal: NodeJS.Signals): void;
}

const RunRecord = Type.Object({
  guard: Type.Union([Type.Object({ pid: Type.Integer(), identity: Type.String() }), Type.Null()]),
  processes: Type.Array(OwnedProcess),
  temporary: Type.Array(Type.String()),
});
type RunRecord = Static<typeof RunRecord>;

const KEPT_LINES = 30;
const GUARD_MS = 12_000;

export class ProcessGroup {
  readonly folder: string;
  #record: RunRecord = { guard: null, processes: [], temporary: [] };
  #guard: ChildProcess | null = null;
  #stopping: Promise<string[]> | null = null;
  #hurry = new AbortController();

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The caller must hold the lock of this folder. Ends what an earlier group left running. */
  static async open(folder: string): Promise<ProcessGroup> {
    mkdirSync(folder, { recursive: true });
    const group = new ProcessGroup(folder);
    await group.#endEarlierRun();
    group.#startGuard();
    return group;
  }

  start(spec: ProcessSpec): RunningProcess {
    if (this.#stopping) throw new Failure(`${spec.name} was not started: everything is being stopped.`);
    const log = new LogFile(join(this.folder, 'logs', `${spec.name}.log`));
    const identityOptions = spec.uid === undefined ? {} : { uid: spec.uid, gid: spec.gid ?? spec.uid };
    const child = spawn(spec.file, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...identityOptions,
    });
    const { promise: exited, resolve } = Promise.withResolvers<Exit>();
    let startError = '';
    child.once('error', (error) => {
      startError = error.message;
      running.lastLines.push(error.message);
      end({ code: null, signal: null });
    });
    child.once('close', (code, signal) => end({ code, signal }));
    const end = (exit: Exit) => {
      running.hasEnded = true;
      this.#forget(running.pid);
      log.close();
      resolve(exit);
    };
    const running: RunningProcess = {
      name: spec.name,
      pid: child.pid ?? 0,
      exited,
      ended: exited.then(({ code, signal }) => {
        if (startError) return `did not start (${startError})`;
        return signal ? `was ended by ${signal}` : `ended with code ${code}`;
      }),
      hasEnded: false,
      lastLines: [],
      signal: (signal) => {
        if (!running.hasEnded) child.kill(signal);
      },
    };
    child.stdin.on('error', () => {});
    child.stdin.end(spec.input ?? '');
    for (const stream of ['stdout', 'stderr'] as const)
      createInterface({ input: child[stream] }).on('line', (line) => {
        log.write(line);
        if (running.lastLines.push(line.slice(0, 400)) > KEPT_LINES) running.lastLines.shift();
        spec.onLine?.(line, stream);
      });
    const identity = processIdentity(running.pid);
    if (identity)
      this.#remember({
        name: spec.name,
        pid: running.pid,
        identity,
        stage: spec.stage,
        signal: spec.signal ?? 'SIGTERM',
        lastSignal: spec.lastSignal ?? 'SIGKILL',
        grace_ms: spec.grace_ms,
      });
    return running;
  }

  /** Registers a folder to be removed when the group ends. */
  temporary(path: string): void {
    this.#record.temporary.push(path);
    this.#publish({ temporary: path });
  }

  /**
   * Resolves with the names of processes that had to be killed. A second call shortens the grace periods of the first.
   */
  stop(): Promise<string[]> {
    if (this.#stopping) this.#hurry.abort();
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#stopping ?? this.stop()).then(() => {});
  }

  async #stop(): Promise<string[]> {
    const killed = await stopProcesses([...this.#record.processes], this.#hurry.signal);
    await removeTemporary(this.#record.temporary);
    rmSync(this.#recordFile, { force: true });
    this.#guard?.stdin?.end();
    return killed;
  }

  #remember(owned: OwnedProcess): void {
    this.#record.processes.push(owned);
    this.#publish({ started: owned });
  }

  #forget(pid: number): void {
    this.#record.processes = this.#record.processes.filter((owned) => owned.pid !== pid);
    if (!this.#stopping) this.#publish({ ended: pid });
  }

  #publish(message: GuardMessage): void {
    this.#guard?.stdin?.write(`${JSON.stringify(message)}\n`);
    const aside = `${this.#recordFile}.new`;
    writeFileSync(aside, JSON.stringify(this.#record));
    renameSync(aside, this.#recordFile);
  }

  #startGuard(): void {
    const script = fileURLToPath(new URL('guard.ts', import.meta.url));
    const guard = spawn(process.execPath, [script], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      env: bareEnvironment(),
    });
    guard.on('error', () => {});
    guard.stdin.on('error', () => {});
    guard.unref();
    this.#guard = guard;
    const identity = processIdentity(guard.pid ?? 0);
    this.#record.guard = identity ? { pid: guard.pid ?? 0, identity } : null;
  }

  async #endEarlierRun(): Promise<void> {
    let earlier: RunRecord;
    try {
      earlier = readJson(RunRecord, readFileSync(this.#recordFile, 'utf8'));
    } catch {
      return;
    }
    const { guard } = earlier;
    const until = performance.now() + GUARD_MS;
    while (guard && isAlive(guard) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await stopProcesses(earlier.processes);
    await removeTemporary(earlier.temporary);
    rmSync(this.#recordFile, { force: true });
  }

  get #recordFile(): string {
    return join(this.folder, 'processes.json');
  }
}
