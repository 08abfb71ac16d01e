import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from '@eloquentpoll/launch/process-identity';
import { type Static, Type } from '@sinclair/typebox';

// Ends processes in stages, each with a time limit: first by a signal, then by SIGKILL after the grace period. Used by
// the owner, by the guard if the owner is gone, and by the next start if both are.

const StopSignal = Type.Union(
  (['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGKILL'] as const).map((signal) => Type.Literal(signal)),
);
export type StopSignal = Static<typeof StopSignal>;

export const OwnedProcess = Type.Object({
  name: Type.String(),
  pid: Type.Integer(),
  /** Distinguishes the process from a later one with the same pid, so that no other process is ever signalled. */
  identity: Type.String(),
  /** Lower stages end first. */
  stage: Type.Integer(),
  signal: StopSignal,
  /** Sent when the grace period ends; SIGKILL follows half a second later. */
  lastSignal: StopSignal,
  grace_ms: Type.Number(),
});
export type OwnedProcess = Static<typeof OwnedProcess>;

const LAST_SIGNAL_MS = 500;
const HURRY_MS = 300;
const LOOK_EVERY_MS = process.platform === 'linux' ? 20 : 100;

export function isAlive(owned: { pid: number; identity: string }): boolean {
  return processIdentity(owned.pid) === owned.identity;
}

/** Resolves with the names of processes that had to be killed. Later stages get time that earlier ones did not use. */
export async function stopProcesses(processes: readonly OwnedProcess[], hurry?: AbortSignal): Promise<string[]> {
  const stages = [...Map.groupBy(processes, (owned) => owned.stage).entries()].sort(([a], [b]) => a - b);
  const killed: string[] = [];
  let deadline = performance.now();
  for (const [, members] of stages) {
    deadline += Math.max(...members.map((member) => member.grace_ms));
    for (const member of members) {
      send(member, member.signal);
      // A stopped process handles its signal only after it has been continued.
      send(member, 'SIGCONT');
    }
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

// After a second Ctrl-C every stage gets only a moment to close its files.
function hurriedUntil(signal: AbortSignal): number {
  const since = hurried.get(signal) ?? performance.now();
  hurried.set(signal, since);
  return since + HURRY_MS;
}

async function untilGone(processes: readonly OwnedProcess[], deadline: () => number): Promise<void> {
  while (processes.some(isAlive) && performance.now() < deadline()) await delay(LOOK_EVERY_MS);
}

// They lead their own process groups, so that killing one also ends what it has started.
function send(owned: OwnedProcess, signal: NodeJS.Signals): void {
  if (!isAlive(owned)) return;
  try {
    process.kill(signal === 'SIGKILL' && process.platform !== 'win32' ? -owned.pid : owned.pid, signal);
  } catch {
    // The process ended between the check and the signal.
  }
}
