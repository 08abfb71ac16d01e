import type { Vote } from '@eloquentpoll/contracts';
import { type Moment, type PollOutcome, pollState, runningSnapshot } from '@eloquentpoll/polls';
import { type Collected, collectVotes } from './collect-votes.ts';
import type { Context } from './context.ts';
import type { ProgressRecord } from './record-progress.ts';
import type { LeasedPoll } from './run.ts';
import { requestFor } from './vote-request.ts';

/** The votes of a panel and when each arrived. `arrivals` is empty if an earlier worker received some of the votes. */
export type PanelVotes = Collected & Pick<PollOutcome, 'arrivals'>;

/** Collects the votes of a poll, and records and publishes each in the run record. */
export async function askPanel(
  context: Context,
  { claim, record, claimedAt, lease, alive }: LeasedPoll,
  progress: ProgressRecord,
  earlier: readonly Vote[],
  timeLeftMs: number,
): Promise<PanelVotes> {
  const { clock } = context;
  const { id: pollId, epoch, spec } = claim;
  const arrivals: PollOutcome['arrivals'] = [];

  let asked = 0;

  function snapshotOf(moment: Pick<Moment, 'state' | 'received' | 'vote'>) {
    const asking = asked - (moment.received - earlier.length);
    const elapsedMs = claim.ageMs + clock.now() - claimedAt;
    return runningSnapshot({ pollId, epoch, spec, ...moment, asking, elapsedMs });
  }

  async function mayCall(unwanted: AbortSignal): Promise<boolean> {
    await lease.ensureFresh(unwanted);
    return !alive.aborted;
  }

  const isCurrent = (): boolean => lease.isFresh() && !alive.aborted;

  const owner = claim.accountId === null ? {} : { accountId: claim.accountId };
  const state = pollState(spec, earlier, record);
  const collecting = collectVotes({
    spec,
    state,
    votes: earlier,
    timeLeftMs,
    clock,
    hedges: context.hedges,
    signal: alive,
    canceled: lease.canceled,
    ask(seat, deadlineMs, signal, onSpent) {
      asked += 1;
      const request = { ...requestFor(spec, seat), ...owner, pollId, deadlineMs };
      return context.ask(request, { signal, beforeCall: () => mayCall(signal), isCurrent, onSpent });
    },
    onVote(vote, state, votes) {
      const snapshot = snapshotOf({ state, received: votes.length, vote });
      const { elapsed_ms: at_ms, confidence, chances, track_record } = snapshot;
      arrivals.push({ at_ms, confidence, ...(chances && { chances }), ...(track_record && { track_record }) });
      progress.vote(vote, snapshot);
    },
  });
  // Written after the first calls are sent, so that they do not wait for it. None of them can have ended by then.
  progress.open(snapshotOf({ state, received: earlier.length, vote: null }));
  return { ...(await collecting), arrivals: earlier.length === 0 ? arrivals : [] };
}
