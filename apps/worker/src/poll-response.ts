import {
  maxCostUsdOf,
  type PollResponse,
  type PollSpec,
  type TerminationReason,
  type Timing,
  type Vote,
  type VoteResult,
} from '@eloquentpoll/contracts';
import { type Conclusion, conclude, type PollState } from '@eloquentpoll/voting';

// From what happened to what the world is told: the one place where a poll's outcome takes the shape of the contract.

const usd = (microUsd: number): number => microUsd / 1_000_000;

export function voteResult(spec: PollSpec, vote: Vote): VoteResult {
  return {
    model_id: vote.model_id,
    success: vote.option !== null,
    chosen_option: vote.option === null ? null : (spec.options[vote.option] ?? null),
    transition: 'vote',
    latency_ms: vote.latency_ms,
    estimated_cost: usd(vote.billed_u),
    error: vote.error,
  };
}

/** Keys are option texts and any text is legal, `__proto__` too. */
export const tallyOf = (spec: PollSpec, votes: readonly number[]): Record<string, number> =>
  Object.fromEntries(spec.options.map((option, i) => [option, votes[i] ?? 0]));

function outcomeOf(spec: PollSpec, verdict: Conclusion): string {
  if (verdict.winner !== null) return spec.options[verdict.winner] ?? '';
  return verdict.isTie ? 'tie' : 'no_votes';
}

export interface Ended {
  resultId: string;
  spec: PollSpec;
  state: PollState;
  reason: TerminationReason | null;
  votes: readonly Vote[];
  gatherMs: number;
  totalMs: number;
  /** Empty when an earlier worker received some of the votes. */
  arrivals: NonNullable<Timing['arrivals']>;
}

export function pollResponse(ended: Ended): PollResponse {
  const { spec, votes } = ended;
  const verdict = conclude(ended.state, { reason: ended.reason });
  return {
    poll_id: ended.resultId,
    status: verdict.status,
    outcome: outcomeOf(spec, verdict),
    question: spec.question,
    options: spec.options,
    poll_type: 'fptp',
    winning_option: verdict.winner === null ? null : (spec.options[verdict.winner] ?? null),
    is_tie: verdict.isTie,
    confidence_threshold: spec.confidence_threshold,
    max_cost_usd: maxCostUsdOf(spec),
    early_terminated: verdict.earlyTerminated,
    termination_reason: verdict.reason,
    models_skipped: verdict.skipped,
    tally: tallyOf(spec, verdict.tally),
    votes: votes.map((vote) => voteResult(spec, vote)),
    timing: {
      gather_ms: Math.round(ended.gatherMs),
      total_ms: Math.round(ended.totalMs),
      ...(ended.arrivals.length > 0 && { arrivals: ended.arrivals }),
    },
    costs: { total_estimated_cost: usd(votes.reduce((sum, vote) => sum + vote.billed_u, 0)) },
    confidence: verdict.confidence,
    preset: spec.panel_name,
    simulated: spec.simulated,
  };
}

/** A session fails when its poll has no valid vote; everything else has an outcome to read. */
export const sessionStatus = (response: PollResponse): 'completed' | 'failed' =>
  response.status === 'failed' ? 'failed' : 'completed';
