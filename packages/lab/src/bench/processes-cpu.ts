import { readdirSync, readFileSync } from 'node:fs';

// CPU time that a process has used so far, from /proc: in microseconds over all its living threads, as precise as the
// kernel counts. Without /proc all values are null, and the rows then show NaN.

const TICK_US = 10_000;

export function cpuUs(pid: number): number | null {
  try {
    let ns = 0;
    for (const task of readdirSync(`/proc/${pid}/task`))
      ns += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
    return ns / 1_000;
  } catch {
    const stat = statOf(pid);
    return stat && stat.ownTicks * TICK_US;
  }
}

/** Of a process and its children, including those that have ended: Postgres has one per connection. */
export function familyCpuUs(parent: number): number | null {
  const stat = statOf(parent);
  if (!stat) return null;
  const members = [parent, ...childrenOf(parent)];
  return members.reduce((sum, pid) => sum + (cpuUs(pid) ?? 0), stat.endedTicks * TICK_US);
}

export function parentOf(pid: number): number | null {
  return statOf(pid)?.parent ?? null;
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent);
}

function statOf(pid: number): { parent: number; ownTicks: number; endedTicks: number } | null {
  try {
    // The name of the program may contain spaces and parentheses; the fields start after the last parenthesis.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return { parent: fields[1]!, ownTicks: fields[11]! + fields[12]!, endedTicks: fields[13]! + fields[14]! };
  } catch {
    return null;
  }
}
