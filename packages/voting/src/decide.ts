import { nextLaunch } from './fan-out.ts';
import type { PollState } from './poll.ts';
import { stopReason, type TerminationReason } from './stop-rules.ts';

export type Decision =
  | { readonly kind: 'stop'; readonly reason: TerminationReason }
  /** Seats to ask now. If empty, the poll waits for a running call, of which there is at least one. */
  | { readonly kind: 'go'; readonly launch: readonly number[] };

/** Decides what to do next. Called at the start, after every vote, and when a running call has become slow. */
export function decide(poll: PollState, { slow }: { readonly slow: boolean }): Decision {
  const reason = stopReason(poll);
  return reason === null ? { kind: 'go', launch: nextLaunch(poll, slow) } : { kind: 'stop', reason };
}
