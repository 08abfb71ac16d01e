import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import { type OwnedProcess, type StopSignal, stopProcesses } from './stop-processes.ts';

/**
 * Ends servers that still use a data folder although no record lists them. They are recognised by their working folder,
 * which is their data folder; without /proc none can be found.
 */
export async function endStraysIn(folder: string, name: string, signal: StopSignal): Promise<void> {
  const strays = processesIn(folder).map(
    (pid): OwnedProcess => ({
      name,
      pid,
      identity: processIdentity(pid) ?? '',
      stage: 0,
      signal,
      lastSignal: 'SIGQUIT',
      grace_ms: 8_000,
    }),
  );
  if (strays.length > 0) await stopProcesses(strays);
}

/** Servers whose working folder this is. A person's shell or editor in it has a terminal, which no server of ours has. */
export function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return [];
  const real = realpathSync(folder);
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && workingFolder(pid) === real && !hasTerminal(pid));
}

function workingFolder(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function hasTerminal(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // After the name: state, parent, process group, session, terminal.
    const [, , , , terminal] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return terminal !== '0';
  } catch {
    return false;
  }
}
