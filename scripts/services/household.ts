import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Failure } from '../launch/failure.mjs';
import { processIdentity } from '../launch/process-identity.mjs';
import { LogFile } from './log-file.ts';
import { isAlive, type OwnedProcess, stopProcesses } from './stop-processes.ts';

// Owns every process that runs for one data folder. They end with us in any case: we stop them in order, the guard
// does when we are killed, and when the guard is killed too, the next household reads the list and does.

export type GuardMessage = { started: OwnedProcess } | { ended: number } | { temporary: string };

export interface ProcessSpec {
  name: string;
  file: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number | undefined;
  gid?: number | undefined;
  stage: number;
  signal?: NodeJS.Signals;
  lastSignal?: NodeJS.Signals;
  patience_ms: number;
  /** Written to its standard input, which is then closed. */
  input?: string;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface RunningProcess {
  name: string;
  pid: number;
  /** Resolves, never rejects, with the reason in words. */
  ended: Promise<string>;
  hasEnded: boolean;
  lastLines: string[];
}

interface RunRecord {
  guard: { pid: number; identity: string } | null;
  processes: OwnedProcess[];
  temporary: string[];
}

const KEPT_LINES = 30;
const GUARD_MS = 12_000;

export class Household {
  readonly folder: string;
  #record: RunRecord = { guard: null, processes: [], temporary: [] };
  #guard: ChildProcess | null = null;
  #stopping: Promise<string[]> | null = null;
  #hurry = new AbortController();

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** The caller holds the lock of this folder: what an earlier household left running is ended first. */
  static async open(folder: string): Promise<Household> {
    mkdirSync(folder, { recursive: true });
    const household = new Household(folder);
    await household.#endEarlierRun();
    household.#startGuard();
    return household;
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
    const running: RunningProcess = {
      name: spec.name,
      pid: child.pid ?? 0,
      ended: never,
      hasEnded: false,
      lastLines: [],
    };
    running.ended = new Promise((resolve) => {
      child.once('error', (error) => {
        running.lastLines.push(error.message);
        resolve(`did not start (${error.message})`);
      });
      child.once('close', (code, signal) => resolve(signal ? `was ended by ${signal}` : `ended with code ${code}`));
    }).then((reason) => {
      running.hasEnded = true;
      this.#forget(running.pid);
      log.close();
      return String(reason);
    });
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
        patience_ms: spec.patience_ms,
      });
    return running;
  }

  /** A folder that goes when we go. */
  temporary(path: string): void {
    this.#record.temporary.push(path);
    this.#tell({ temporary: path });
  }

  /** Answers the names of those that had to be killed. A second call only makes the first one hurry. */
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
    for (const path of this.#record.temporary) rmSync(path, { recursive: true, force: true });
    rmSync(this.#recordFile, { force: true });
    this.#guard?.stdin?.end();
    return killed;
  }

  #remember(owned: OwnedProcess): void {
    this.#record.processes.push(owned);
    this.#tell({ started: owned });
  }

  #forget(pid: number): void {
    this.#record.processes = this.#record.processes.filter((owned) => owned.pid !== pid);
    if (!this.#stopping) this.#tell({ ended: pid });
  }

  #tell(message: GuardMessage): void {
    this.#guard?.stdin?.write(`${JSON.stringify(message)}\n`);
    const aside = `${this.#recordFile}.new`;
    writeFileSync(aside, JSON.stringify(this.#record));
    renameSync(aside, this.#recordFile);
  }

  #startGuard(): void {
    const script = fileURLToPath(new URL('guard.ts', import.meta.url));
    const guard = spawn(process.execPath, [script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'], env: {} });
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
      earlier = JSON.parse(readFileSync(this.#recordFile, 'utf8'));
    } catch {
      return;
    }
    const { guard } = earlier;
    const until = performance.now() + GUARD_MS;
    while (guard && isAlive(guard) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await stopProcesses(earlier.processes);
    for (const path of earlier.temporary) rmSync(path, { recursive: true, force: true });
    rmSync(this.#recordFile, { force: true });
  }

  get #recordFile(): string {
    return join(this.folder, 'processes.json');
  }
}

const never = new Promise<string>(() => {});
