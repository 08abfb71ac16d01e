import {
  maxCostUsdOf,
  type PollResponse,
  type PollSpec,
  type ProgressSnapshot,
  type TerminationReason,
  type Vote,
} from '@eloquentpoll/contracts';
import { bury, type Claim, claimPoll, finishPoll } from '@eloquentpoll/storage';
import type { Test } from 'tap';
import type { Context } from '../src/context.ts';

// Does what a worker does as far as a gateway can see: claims, votes as told, stores, announces. The real one has tests
// of its own.

/** The option that a seat votes for; null for a model that gives no vote. */
export type Opinion = (seat: number, spec: PollSpec) => number | null;

export interface Behaviour {
  opinion?: Opinion;
  /** Store the end but tell nobody, as when Redis loses a message. */
  silent?: boolean;
  /** Give the poll up. */
  buries?: boolean;
  /** Tell about each vote, as a real worker does: some of it twice, and some too late. */
  tells?: boolean;
  /** Wait before the poll is finished. */
  holdUntil?: Promise<void>;
}

export async function standInWorker(t: Test, context: Context, behaviour: Behaviour = {}) {
  const ran: string[] = [];
  const consumer = context.bus.consumePolls({
    concurrency: 10,
    run: async (pollId) => {
      const claim = await claimPoll(context.storage, pollId, 'stand-in');
      if (!claim) return;
      await run(context, claim, behaviour);
      ran.push(pollId);
    },
  });
  t.teardown(() => consumer.drain(1_000));
  await consumer.ready();
  return { ran };
}

async function run(context: Context, claim: Claim, behaviour: Behaviour): Promise<void> {
  await behaviour.holdUntil;
  const { id, epoch, spec } = claim;
  if (behaviour.buries) {
    await bury(context.storage, { id, epoch, reason: 'test' });
    return;
  }
  const votes = spec.seats.map((seat, i) => vote(seat.model_id, i, (behaviour.opinion ?? (() => 0))(i, spec)));
  if (behaviour.tells) await tell(context, claim, votes);
  const { status, response } = await store(context, claim, votes);
  if (!behaviour.silent)
    await context.bus.runs.end(id, epoch, String(claim.accountId), snapshot(claim, status, response));
}

/** The end of a poll, in Postgres alone. */
export async function store(
  context: Context,
  claim: Claim,
  votes: Vote[],
  reason: TerminationReason = 'roster_exhausted',
) {
  const { id, epoch } = claim;
  const response = { ...responseOf(claim, votes), termination_reason: reason };
  const succeeded = response.votes.filter((vote) => vote.success).length;
  const status = response.status === 'failed' ? ('failed' as const) : ('completed' as const);
  await finishPoll(context.storage, {
    id,
    epoch,
    status,
    votes,
    result: {
      status: response.status,
      winningOption: response.winning_option,
      isTie: response.is_tie,
      earlyTerminated: false,
      terminationReason: reason,
      modelsRequested: votes.length,
      modelsSucceeded: succeeded,
      modelsFailed: votes.length - succeeded,
      modelsSkipped: 0,
      gatherMs: 1,
      totalMs: 2,
      detail: response,
    },
  });
  return { status, response };
}

export const vote = (model_id: string, seat: number, option: number | null): Vote => ({
  seat,
  model_id,
  option,
  error: option === null ? 'refusal' : null,
  latency_ms: 1,
  billed_u: option === null ? 0 : 100,
  provider_cost_u: null,
  labels: [],
  attempts: 1,
  searched: false,
});

async function tell({ bus }: Context, claim: Claim, votes: readonly Vote[]): Promise<void> {
  const total = votes.length;
  for (const [i, vote] of votes.entries()) {
    const received = i + 1;
    const tally = claim.spec.options.map(
      (_, n) => votes.slice(0, received).filter(({ option }) => option === n).length,
    );
    const running: ProgressSnapshot = {
      ...snapshot(claim, 'running', null),
      seq: received,
      progress: { received, succeeded: received, failed: 0, total },
      tally,
      leader: tally.indexOf(Math.max(...tally)),
    };
    await bus.runs.vote(claim.id, claim.epoch, vote, running);
    await bus.runs.vote(claim.id, claim.epoch, vote, {
      ...running,
      progress: { ...running.progress, received: i },
    });
  }
}

function responseOf({ spec, resultId }: Claim, votes: Vote[]): PollResponse {
  const counts = spec.options.map((_, i) => votes.filter((vote) => vote.option === i).length);
  const most = Math.max(...counts);
  const leaders = counts.flatMap((count, i) => (count === most && most > 0 ? [i] : []));
  const winner = leaders.length === 1 ? (spec.options[leaders[0]!] ?? null) : null;
  return {
    poll_id: resultId,
    status: most > 0 ? 'success' : 'failed',
    outcome: winner ?? (most > 0 ? 'tie' : 'no_votes'),
    question: spec.question,
    options: spec.options,
    poll_type: 'fptp',
    winning_option: winner,
    is_tie: leaders.length > 1,
    confidence_threshold: spec.confidence_threshold,
    max_cost_usd: maxCostUsdOf(spec),
    early_terminated: false,
    termination_reason: 'roster_exhausted',
    models_skipped: 0,
    tally: Object.fromEntries(spec.options.map((option, i) => [option, counts[i]!])),
    votes: votes.map((vote) => ({
      model_id: vote.model_id,
      success: vote.option !== null,
      chosen_option: vote.option === null ? null : spec.options[vote.option]!,
      transition: 'vote',
      latency_ms: vote.latency_ms,
      estimated_cost: vote.billed_u / 1_000_000,
      error: vote.error,
    })),
    timing: { gather_ms: 1, total_ms: 2 },
    costs: { total_estimated_cost: votes.reduce((sum, vote) => sum + vote.billed_u, 0) / 1_000_000 },
    confidence: winner === null ? null : 1,
    preset: spec.panel_name,
    simulated: spec.simulated,
  };
}

export const snapshot = (
  claim: Claim,
  status: ProgressSnapshot['status'],
  result: PollResponse | null,
): ProgressSnapshot => ({
  seq: 99,
  poll_id: claim.id,
  status,
  models_requested: claim.spec.seats.length,
  progress: { received: 0, succeeded: 0, failed: 0, total: claim.spec.seats.length },
  tally: Object.values(result?.tally ?? {}),
  leader: null,
  confidence: result?.confidence ?? null,
  vote: null,
  result_id: result?.poll_id ?? null,
  result,
  elapsed_ms: 2,
});
