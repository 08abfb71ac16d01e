import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The share of the machine's CPU that this process and its descendants used since the last call, from 0 to 1. */
export function ownShare(): () => number {
  const read = () => ({ ticks: ticksOfFamily(process.pid), at: performance.now() });
  let before = read();
  return () => {
    const now = read();
    const seconds = ((now.at - before.at) / 1_000) * availableParallelism();
    const share = (now.ticks - before.ticks) / TICKS_PER_S / seconds;
    before = now;
    return Math.min(1, Math.max(0, share));
  };
}

const TICKS_PER_S = 100;

/** CPU ticks of a process, its descendants, and those descendants that have ended. */
function ticksOfFamily(root: number): number {
  const all = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap(statOf),
  );
  const isOurs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (isOurs(pid) ? ticks : 0), 0);
}

function statOf(pid: string): [number, { parent: number; ticks: number }][] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program's name may contain spaces and brackets; the fields after the last bracket do not.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [own, ended] = [fields[11]! + fields[12]!, fields[13]! + fields[14]!];
    return [[Number(pid), { parent: fields[1]!, ticks: own + ended }]];
  } catch {
    // The process has just ended.
    return [];
  }
}
