import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { processIdentity } from '../launch/process-identity.mjs';
import { type OwnedProcess, stopProcesses } from './stop-processes.ts';

/**
 * Ends servers that still work in a data folder though nothing remembers them. A server's working folder is its data
 * folder, and nobody else's is: that is how they are told from strangers. Without /proc there is nothing to see.
 */
export async function endStraysIn(folder: string, name: string, signal: NodeJS.Signals): Promise<void> {
  const strays = processesIn(folder).map(
    (pid): OwnedProcess => ({
      name,
      pid,
      identity: processIdentity(pid) ?? '',
      stage: 0,
      signal,
      lastSignal: 'SIGQUIT',
      patience_ms: 8_000,
    }),
  );
  if (strays.length > 0) await stopProcesses(strays);
}

export function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  const real = realpathSync(folder);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && workingFolder(pid) === real);
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}
