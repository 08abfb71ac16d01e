// @ts-check
// A lock between processes that is released when its owner ends: the file names the process, and a lock whose process
// is gone is taken over. The file is written aside and then linked, so that no process reads an incomplete one.

import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from './process-identity.mjs';

/** @typedef {{ pid: number, identity: string, note: string }} LockOwner */

/**
 * Takes the lock, or returns its owner.
 * @param {string} file @param {string} [note]
 * @returns {{ held: true, release: () => void } | { held: false, owner: LockOwner }}
 */
export function tryLock(file, note = '') {
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid), note }));
  try {
    for (;;) {
      if (linked(mine, file)) return { held: true, release: () => release(file) };
      const owner = lockOwner(file);
      if (owner) return { held: false, owner };
      removeStale(file);
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

/**
 * Waits for the lock; `onWait` is called once if another process holds it.
 * @param {string} file @param {{ onWait?: (owner: LockOwner) => void }} [options]
 */
export async function lock(file, options = {}) {
  for (let waited = false; ; waited = true) {
    const attempt = tryLock(file);
    if (attempt.held) return attempt.release;
    if (!waited) options.onWait?.(attempt.owner);
    await delay(200);
  }
}

/** The running owner of a lock, or null. @param {string} file @returns {LockOwner | null} */
export function lockOwner(file) {
  try {
    const owner = JSON.parse(readFileSync(file, 'utf8'));
    return processIdentity(owner.pid) === owner.identity ? owner : null;
  } catch {
    return null;
  }
}

/** @param {string} source @param {string} target */
function linked(source, target) {
  try {
    linkSync(source, target);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

// The file is moved aside before the second check. Of several processes that find it stale, only one moves it; if
// another process took the lock in that moment, the file is put back.
/** @param {string} file */
function removeStale(file) {
  const aside = `${file}.stale.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  if (lockOwner(aside)) linked(aside, file);
  rmSync(aside, { force: true });
}

/** @param {string} file */
function release(file) {
  if (lockOwner(file)?.pid === process.pid) rmSync(file, { force: true });
}
