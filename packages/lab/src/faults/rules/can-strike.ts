import type { Fault } from '../fault-kinds.ts';
import { canCut } from '../fault-traits.ts';
import type { Attempt } from '../operations.ts';

// Which faults can explain a broken stream or a slow upload: only faults of parts that its data passes.

/** Maximum difference between the clocks of two processes on one machine, read one after the other. */
export const CLOCK_MS = 50;

/** Streams and uploads use no replica of Postgres. */
const TO_REPLICA = /-replica$/;

/** A process, or a link of one process. */
const OF_PROCESS = /^[gw]\d+(-|$)/;

/**
 * Whether the fault hit its gateway, a link of that gateway, or a store, at any time while the request was running:
 * data lost on a dead link is noticed only later.
 */
export function canStrike({ kind, target, at, until }: Fault, { gateway, asked, answered }: Attempt): boolean {
  const isMeanwhile = at < (answered ?? Number.POSITIVE_INFINITY) + CLOCK_MS && until > asked - CLOCK_MS;
  if (!isMeanwhile || !canCut(kind) || TO_REPLICA.test(target)) return false;
  return !OF_PROCESS.test(target) || target === gateway || target.startsWith(`${gateway}-`);
}
