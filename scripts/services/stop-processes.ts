import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from '../launch/process-identity.mjs';

// Ends processes in stages, each with a bound: asked first, killed when its time is over. Used by the process that
// started them, by the guard when that process is gone, and by the next start when both are.

export interface OwnedProcess {
  name: string;
  pid: number;
  /** Tells this process from a later one with the same number: nothing else is ever signalled. */
  identity: string;
  /** Lower stages end first. */
  stage: number;
  signal: NodeJS.Signals;
  /** Sent at the bound; SIGKILL follows half a second later. */
  lastSignal: NodeJS.Signals;
  patience_ms: number;
}

const LAST_SIGNAL_MS = 500;
const HURRY_MS = 300;
const LOOK_EVERY_MS = process.platform === 'linux' ? 20 : 100;

export function isAlive(owned: { pid: number; identity: string }): boolean {
  return processIdentity(owned.pid) === owned.identity;
}

/** Answers the names of those that had to be killed. Time that a stage does not use is left to the later ones. */
export async function stopProcesses(processes: readonly OwnedProcess[], hurry?: AbortSignal): Promise<string[]> {
  const stages = [...Map.groupBy(processes, (owned) => owned.stage).entries()].sort(([a], [b]) => a - b);
  const killed: string[] = [];
  let deadline = performance.now();
  for (const [, members] of stages) {
    deadline += Math.max(...members.map((member) => member.patience_ms));
    for (const member of members) send(member, member.signal);
    await untilGone(members, () => (hurry?.aborted ? Math.min(deadline, hurriedUntil(hurry)) : deadline));
    for (const signal of ['last', 'kill'] as const) {
      const left = members.filter(isAlive);
      if (signal === 'last') killed.push(...left.map((member) => member.name));
      for (const member of left) send(member, signal === 'last' ? member.lastSignal : 'SIGKILL');
      const bound = performance.now() + LAST_SIGNAL_MS;
      await untilGone(left, () => bound);
    }
  }
  return killed;
}

const hurried = new WeakMap<AbortSignal, number>();

// A second Ctrl-C gives every stage a moment to close its files, no more.
function hurriedUntil(signal: AbortSignal): number {
  const since = hurried.get(signal) ?? performance.now();
  hurried.set(signal, since);
  return since + HURRY_MS;
}

async function untilGone(processes: readonly OwnedProcess[], deadline: () => number): Promise<void> {
  while (processes.some(isAlive) && performance.now() < deadline()) await delay(LOOK_EVERY_MS);
}

// They lead their own process groups, so that a killed one takes along what it started.
function send(owned: OwnedProcess, signal: NodeJS.Signals): void {
  if (!isAlive(owned)) return;
  try {
    process.kill(signal === 'SIGKILL' && process.platform !== 'win32' ? -owned.pid : owned.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}
