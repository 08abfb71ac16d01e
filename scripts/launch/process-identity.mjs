// @ts-check
// Process ids are reused, so an id read from a file proves nothing. An identity is the id plus the time when the
// process started: two identities are equal only if it is the same process.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

let bootId = '';

/** The identity of a running process, or null if there is none (or only a zombie). @param {number} pid */
export function processIdentity(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  if (process.platform === 'linux') return linuxIdentity(pid);
  if (process.platform === 'win32') return isAlive(pid) ? `${pid}` : null;
  const started = spawnSync('ps', ['-o', 'lstart=', '-p', `${pid}`], { encoding: 'utf8' }).stdout?.trim();
  return started ? `${pid} ${started}` : null;
}

/** @param {number} pid */
function linuxIdentity(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    bootId ||= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${pid} ${fields[19]} ${bootId}`;
  } catch {
    return null;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
