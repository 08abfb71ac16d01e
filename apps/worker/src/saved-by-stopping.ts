import type { PollSpec, TerminationReason, Vote } from '@eloquentpoll/contracts';
import { listPrice } from '@eloquentpoll/models/panels';
import { isFree } from '@eloquentpoll/polls';
import type { AbortedCalls } from '@eloquentpoll/storage';

interface Stopped {
  spec: PollSpec;
  reason: TerminationReason | null;
  votes: readonly Pick<Vote, 'seat'>[];
  aborted: readonly Pick<AbortedCalls, 'seat'>[];
}

const DECIDED: ReadonlySet<TerminationReason | null> = new Set(['mathematical_lock', 'confidence']);

/**
 * Estimates, in micro-USD and at the prices frozen in the spec, what the account would have paid for the models that
 * were not asked because the outcome was certain enough. 0 for polls that their budget or their caller ended.
 */
export function savedByStopping({ spec, reason, votes, aborted }: Stopped): number {
  if (!DECIDED.has(reason) || isFree(spec.panel_name)) return 0;
  const asked = new Set([...votes, ...aborted].map(({ seat }) => seat));
  return spec.seats
    .filter((_, seat) => !asked.has(seat))
    .reduce(
      (sum, { call_typical_u = 0 }) => sum + Number(listPrice(BigInt(call_typical_u), spec.price_ppm ?? 1_000_000)),
      0,
    );
}
