import { nextLaunch } from './fan-out.ts';
import type { PollState } from './poll.ts';
import { stopReason, type TerminationReason } from './stop-rules.ts';

export type Decision =
  | { readonly kind: 'stop'; readonly reason: TerminationReason }
  /** Seats to ask now; an empty list means waiting for a call in flight, and then there is one. */
  | { readonly kind: 'go'; readonly launch: readonly number[] };

/** What to do next: asked at the start, after every vote, and when the oldest call in flight has become slow. */
export function decide(poll: PollState, { slow }: { readonly slow: boolean }): Decision {
  const reason = stopReason(poll);
  return reason === null ? { kind: 'go', launch: nextLaunch(poll, slow) } : { kind: 'stop', reason };
}
