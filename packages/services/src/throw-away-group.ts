import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireSpace } from '@eloquentpoll/launch/folders';
import { ProcessGroup } from './process-group.ts';

export interface ThrowAwayOptions {
  neededMb?: number;
  /** Uses a file system in memory if it has space: creating a database (300 files) is ten times as fast there. */
  inMemory?: boolean;
}

const MEMORY = '/dev/shm';
/** Containers often have only 64 MB there. */
const MIN_FREE_MEMORY_MB = 2_048;

/** A process group in a temporary folder; disposing of it ends the processes and removes the folder. */
export async function openThrowAwayGroup(
  purpose: string,
  { neededMb = 100, inMemory = false }: ThrowAwayOptions = {},
): Promise<ProcessGroup> {
  const folder = mkdtempSync(join(inMemory && memoryHasSpace() ? MEMORY : tmpdir(), 'eloquentpoll-'));
  try {
    // Postgres may run as another user, who must be able to enter the folder.
    chmodSync(folder, 0o755);
    requireSpace(folder, neededMb, purpose);
    const group = await ProcessGroup.open(folder);
    group.temporary(folder);
    return group;
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** A TMPDIR that was set explicitly is respected. */
function memoryHasSpace(): boolean {
  if (process.platform !== 'linux' || process.env.TMPDIR) return false;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return (bavail * bsize) / 2 ** 20 >= MIN_FREE_MEMORY_MB;
  } catch {
    return false;
  }
}
