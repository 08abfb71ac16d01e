import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

// The processes of an experiment. Each is ended by its own pid, and whatever happens to us none stays: a watchdog hears
// over a pipe which processes live, and when the pipe closes it ends those that are left.

const READY_WITHIN_MS = 30_000;
const LEAVE_WITHIN_MS = 5_000;
const LAST_LINES = 20;

export type LogLine = Readonly<Record<string, unknown>>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Service {
  readonly name: string;
  readonly pid: number;
  /** What it said when it was ready. */
  readonly ready: LogLine;
  readonly alive: boolean;
  /** Resolves when the process is gone, with how it ended. */
  readonly gone: Promise<Exit>;
  /** The newest lines of its standard error. */
  readonly lastWords: readonly string[];
  signal(signal: NodeJS.Signals): void;
}

export interface Household extends AsyncDisposable {
  /** Starts a module with Node and waits for its line with `"msg":"ready"`. */
  start(name: string, module: string, env: Record<string, string>, onLine?: (line: LogLine) => void): Promise<Service>;
}

export function household(): Household {
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL('watchdog.ts', import.meta.url))], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.stdin.on('error', () => {});
  const members = new Set<Service>();

  return {
    async start(name, module, env, onLine) {
      const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve(module))], {
        stdio: ['ignore', 'pipe', 'pipe'],
        // A Ctrl-C on our terminal is for us alone.
        detached: true,
        env: { PATH: process.env.PATH ?? '', ...env },
      });
      const pid = child.pid;
      if (pid === undefined) throw new Error(`${name} could not be started`);
      watchdog.stdin.write(`+${pid}\n`);
      let alive = true;
      const gone = new Promise<Exit>((resolve) => {
        child.once('exit', (code, signal) => {
          alive = false;
          watchdog.stdin.write(`-${pid}\n`);
          resolve({ code, signal });
        });
      });
      const lastWords: string[] = [];
      const signal = (name: NodeJS.Signals) => {
        if (alive) process.kill(pid, name);
      };
      const service = (ready: LogLine): Service => ({
        name,
        pid,
        ready,
        get alive() {
          return alive;
        },
        gone,
        lastWords,
        signal,
      });
      const starting = service({});
      members.add(starting);
      void gone.then(() => members.delete(starting));
      return service(await untilReady(name, child, lastWords, onLine));
    },
    async [Symbol.asyncDispose]() {
      const left = [...members];
      for (const member of left) {
        member.signal('SIGCONT');
        member.signal('SIGTERM');
      }
      const everybody = Promise.all(left.map((member) => member.gone));
      await within(LEAVE_WITHIN_MS, everybody);
      for (const member of left) member.signal('SIGKILL');
      await everybody;
      watchdog.stdin.end();
      await new Promise((resolve) => (watchdog.exitCode === null ? watchdog.once('exit', resolve) : resolve(null)));
    },
  };
}

function untilReady(
  name: string,
  child: ChildProcess,
  lastWords: string[],
  onLine: (line: LogLine) => void = () => {},
): Promise<LogLine> {
  const last: string[] = [];
  const keep = (text: string) => {
    last.push(text);
    if (last.length > LAST_LINES) last.shift();
  };
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${name} ${why}${last.map((line) => `\n  ${line}`).join('')}`));
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      fail(`was not ready within ${READY_WITHIN_MS / 1000} s`);
    }, READY_WITHIN_MS);
    // Not `exit`: by `close` its last words have been read.
    child.once('close', () => {
      clearTimeout(timer);
      fail('ended before it was ready');
    });
    createInterface({ input: child.stderr! }).on('line', (text) => {
      keep(text);
      if (lastWords.push(text) > LAST_LINES) lastWords.shift();
    });
    createInterface({ input: child.stdout! }).on('line', (text) => {
      keep(text);
      const line = parsed(text);
      if (line.msg === 'ready') {
        clearTimeout(timer);
        resolve(line);
      }
      onLine(line);
    });
  });
}

/** A process that was killed may leave half a line. */
function parsed(text: string): LogLine {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work,
    new Promise((resolve) => {
      timer = setTimeout(resolve, ms);
    }),
  ]);
  clearTimeout(timer);
}
