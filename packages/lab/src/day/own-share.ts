import { availableParallelism } from 'node:os';
import { allPids, processStat } from '../fixture/process-cpu.ts';

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
    allPids().flatMap((pid) => {
      const stat = processStat(pid);
      return stat ? [[pid, { parent: stat.parent, ticks: stat.ownTicks + stat.endedTicks }] as const] : [];
    }),
  );
  const isOurs = (pid: number): boolean => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) if (at === root) return true;
    return false;
  };
  return [...all].reduce((sum, [pid, { ticks }]) => sum + (isOurs(pid) ? ticks : 0), 0);
}
