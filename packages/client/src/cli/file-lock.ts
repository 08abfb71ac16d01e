import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Invocation } from './invocation.ts';
import { pause } from './pause.ts';
import { print } from './terminal.ts';

// One command at a time writes a file: a lock is a file beside it with the id of its process.

const EVERY_MS = 250;
/** What this process holds; another lock with its id is of an earlier process, as in a container that was started again. */
const held = new Set<string>();
/** A lock that says no process is not written to its end yet; of a command that was killed just then it stays so. */
const LOOKS_AT_EMPTY = 8;

interface LockOptions {
  signal: AbortSignal;
  /** Called once, where another command has the lock. */
  onWait: (lock: string, pid: string) => void;
}

/** Writes a file that another command may be writing, and says so where that has to end first. */
export function writeAlone<T>({ terminal, json }: Invocation, out: string, write: () => Promise<T>): Promise<T> {
  const { err, signal } = terminal;
  const onWait = (lock: string, pid: string) => {
    if (!json)
      print(err, `Process ${pid} writes ${out}: waiting for its end. If it is no command of yours, remove ${lock}.`);
  };
  return withFileLock(out, { signal, onWait }, write);
}

/** Waits for the lock of the file and holds it during `work`. One that a dead process left is taken over. */
async function withFileLock<T>(file: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const lock = `${file}.lock`;
  const own = `${process.pid} ${randomBytes(8).toString('hex')}\n`;
  held.add(own);
  try {
    await take(lock, own, options);
    return await work();
  } finally {
    held.delete(own);
    if ((await readIfThere(lock)) === own) await rm(lock, { force: true });
  }
}

async function take(lock: string, own: string, { signal, onWait }: LockOptions): Promise<void> {
  let empty = 0;
  for (let isWaiting = false; !(await isMade(lock, own)); ) {
    signal.throwIfAborted();
    const found = await readIfThere(lock);
    if (found === null) continue;
    const pid = /^\d+/.exec(found)?.[0];
    empty = pid === undefined ? empty + 1 : 0;
    if (pid === undefined ? empty > LOOKS_AT_EMPTY : !isHeld(found, Number(pid))) {
      await removeStale(lock, found, own);
      continue;
    }
    if (!isWaiting && pid !== undefined) {
      isWaiting = true;
      onWait(lock, pid);
    }
    await pause(EVERY_MS, signal);
  }
}

async function isMade(lock: string, own: string): Promise<boolean> {
  try {
    await writeFile(lock, own, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Moved away first: of several that see it, one gets it. A lock that was new by then is put back. */
async function removeStale(lock: string, seen: string, own: string): Promise<void> {
  const away = `${lock}.${own.trim().replace(' ', '-')}`;
  try {
    await rename(lock, away);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  const moved = await readIfThere(away);
  if (moved !== null && moved !== seen) await isMade(lock, moved);
  await rm(away, { force: true });
}

function isHeld(lock: string, pid: number): boolean {
  if (pid === process.pid) return held.has(lock);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Of another user, it lives.
    return codeOf(error) === 'EPERM';
  }
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
