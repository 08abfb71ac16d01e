import type { ProgressSnapshot, TerminationReason, Vote } from '@eloquentpoll/contracts';
import { bury, claimPoll } from '@eloquentpoll/storage';
import type { Context } from '../src/context.ts';
import { snapshot, store, vote } from './stand-in-worker.ts';

// A worker whose every step the test takes itself.

export async function takePoll(context: Context, pollId: string) {
  const { runs } = context.bus;
  const claim = await claimPoll(context.storage, pollId, 'by-hand');
  if (!claim) throw new Error(`${pollId} cannot be claimed`);
  const { epoch, spec } = claim;
  const owner = String(claim.accountId);
  const votes: Vote[] = [];

  function running(): ProgressSnapshot {
    const voted = votes.filter(({ option }) => option !== null);
    const last = votes.at(-1);
    return {
      ...snapshot(claim!, 'running', null),
      seq: votes.length,
      progress: {
        received: votes.length,
        succeeded: voted.length,
        failed: votes.length - voted.length,
        total: spec.seats.length,
      },
      tally: spec.options.map((_, i) => voted.filter(({ option }) => option === i).length),
      leader: voted[0]?.option ?? null,
      vote: last
        ? {
            model_id: last.model_id,
            success: last.option !== null,
            chosen_option: last.option === null ? null : spec.options[last.option]!,
            transition: 'vote',
            latency_ms: last.latency_ms,
            estimated_cost: last.billed_u / 1e6,
            error: last.error,
          }
        : null,
    };
  }

  return {
    claim,
    running,
    open: () => runs.open(pollId, epoch, owner, running()),
    /** The next seat votes; the record and the watchers are told. */
    async vote(option: number | null = 0, confidence: number | null = null) {
      const seat = votes.length;
      votes.push(vote(spec.seats[seat]!.model_id, seat, option));
      await runs.vote(pollId, epoch, votes.at(-1)!, { ...running(), confidence });
    },
    /** Stores the end; unless it is silent, tells it too. */
    async end({ silent = false, reason }: { silent?: boolean; reason?: TerminationReason } = {}) {
      const { status, response } = await store(context, claim, votes, reason);
      const end = { ...snapshot(claim, status, response), seq: votes.length + 1 };
      if (!silent) await runs.end(pollId, epoch, owner, end);
      return response;
    },
    async bury({ silent = false } = {}) {
      await bury(context.storage, { id: pollId, epoch, reason: 'test' });
      if (!silent) await runs.end(pollId, epoch, owner, { ...snapshot(claim, 'failed', null), seq: 1 });
    },
  };
}
