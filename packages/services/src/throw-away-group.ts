import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireSpace } from '@eloquentpoll/launch/folders';
import { ProcessGroup } from './process-group.ts';

/** A process group in a temporary folder; disposing of it ends the processes and removes the folder. */
export async function openThrowAwayGroup(purpose: string, neededMb = 100): Promise<ProcessGroup> {
  const folder = mkdtempSync(join(tmpdir(), 'eloquentpoll-'));
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
