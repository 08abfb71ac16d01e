import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { pause } from '../pause.ts';
import type { Invocation } from './invocation.ts';
import { print } from './terminal.ts';

// Only one command at a time writes a file. The lock is a file next to it, with the id of the process.

const EVERY_MS = 250;
/**
 * Locks held by this process. Any other lock with its process id is from an earlier process, for example in a restarted
 * container.
 */
const held = new Set<string>();
/**
 * A lock without process id is still being written, or its command was killed just then. After this many looks it
 * counts as abandoned.
 */
const LOOKS_AT_EMPTY = 8;

interface LockOptions {
  signal: AbortSignal;
  /** Called once if another command has the lock. */
  onWait: (lock: string, pid: string) => void;
}

/** Writes a file that another command may be writing. Prints a message if that has to end first. */
export function writeAlone<T>({ terminal, json }: Invocation, out: string, write: () => Promise<T>): Promise<T> {
  const { err, signal } = terminal;
  const onWait = (lock: string, pid: string) => {
    if (!json)
      print(
        err,
        `Process ${pid} is writing ${out}; waiting until it ends. If it is not one of your commands, remove ${lock}.`,
      );
  };
  return withFileLock(out, { signal, onWait }, write);
}

/** Waits for the file's lock and holds it during `work`. A lock left by a dead process is replaced. */
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

/**
 * Renames the lock first, so that only one of several commands succeeds. If it was a new lock by then, it is restored.
 */
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
    // The process exists and belongs to another user.
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
