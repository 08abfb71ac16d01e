import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireSpace } from '@eloquentpoll/launch/folders';
import { ProcessGroup } from './process-group.ts';

export interface ThrowAwayOptions {
  neededMb?: number;
  /** On a file system in memory, where it has the space: a new database is 300 files, made ten times as fast. */
  inMemory?: boolean;
}

const MEMORY = '/dev/shm';
/** Containers often have 64 MB there. */
const MIN_FREE_MEMORY_MB = 2_048;

/** A process group in a temporary folder; disposing of it ends the processes and removes the folder. */
export async function openThrowAwayGroup(
  purpose: string,
  { neededMb = 100, inMemory = false }: ThrowAwayOptions = {},
): Promise<ProcessGroup> {
  const folder = mkdtempSync(join(inMemory && memoryHasSpace() ? MEMORY : tmpdir(), 'eloquentpoll-'));
  try {
    // Postgres may run as another user, who has to enter it.
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

/** A TMPDIR that was chosen is respected. */
function memoryHasSpace(): boolean {
  if (process.platform !== 'linux' || process.env.TMPDIR) return false;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return (bavail * bsize) / 2 ** 20 >= MIN_FREE_MEMORY_MB;
  } catch {
    return false;
  }
}
