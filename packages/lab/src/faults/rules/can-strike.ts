import type { Fault, FaultKind } from '../fault-kinds.ts';
import type { Attempt } from '../operations.ts';

// Which faults explain that a stream is cut or that an upload is too slow: those of what it passes.

/** Clocks of two processes on one machine, read one after the other. */
export const CLOCK_MS = 50;

/** No stream or upload passes a worker, nor notices that a replica is gone or that slots are moved. */
const ELSEWHERE: readonly FaultKind[] = [
  'kill worker',
  'term worker',
  'stop worker',
  'kill replica',
  'move slots',
  'migrate',
  'roll forward',
  'roll back',
];

/** A process, or a link that is its own. */
const OF_PROCESS = /^[gw]\d+(-|$)/;

/** Its gateway, a link of that, or a store, at any time while it was under way: what a dead link swallowed is missed later. */
export function canStrike({ kind, target, at, until }: Fault, { gateway, asked, answered }: Attempt): boolean {
  const isMeanwhile = at < (answered ?? Number.POSITIVE_INFINITY) + CLOCK_MS && until > asked - CLOCK_MS;
  if (!isMeanwhile || ELSEWHERE.includes(kind)) return false;
  return !OF_PROCESS.test(target) || target === gateway || target.startsWith(`${gateway}-`);
}
