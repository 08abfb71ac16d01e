import {
  type Ballot,
  maxCostUsdOf,
  type PollResponse,
  type PollSpec,
  type TerminationReason,
  type Timing,
  type VoteResult,
} from '@eloquentpoll/contracts';
import type { FinishedPoll } from '@eloquentpoll/storage';
import { type Conclusion, conclude, type PollState } from '@eloquentpoll/voting';

// From what happened to what the world is told: the one place where a poll's outcome takes the shape of the contract.

const usd = (microUsd: number): number => microUsd / 1_000_000;

export function voteResult(spec: PollSpec, ballot: Ballot): VoteResult {
  return {
    model_id: ballot.model_id,
    success: ballot.option !== null,
    chosen_option: ballot.option === null ? null : (spec.options[ballot.option] ?? null),
    transition: 'vote',
    latency_ms: ballot.latency_ms,
    estimated_cost: usd(ballot.billed_u),
    error: ballot.error,
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
  ballots: readonly Ballot[];
  gatherMs: number;
  totalMs: number;
  /** Empty when an earlier worker received some of the ballots. */
  arrivals: NonNullable<Timing['arrivals']>;
}

export function pollResponse(ended: Ended): PollResponse {
  const { spec, ballots } = ended;
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
    votes: ballots.map((ballot) => voteResult(spec, ballot)),
    timing: {
      gather_ms: Math.round(ended.gatherMs),
      total_ms: Math.round(ended.totalMs),
      ...(ended.arrivals.length > 0 && { arrivals: ended.arrivals }),
    },
    costs: { total_estimated_cost: usd(ballots.reduce((sum, ballot) => sum + ballot.billed_u, 0)) },
    confidence: verdict.confidence,
    preset: spec.roster_name,
    simulated: spec.simulated,
  };
}

/** What is stored of it: the response itself, and what is listed and counted. */
export function finishedPoll(
  id: string,
  epoch: number,
  response: PollResponse,
  ballots: readonly Ballot[],
): FinishedPoll {
  const succeeded = ballots.filter((ballot) => ballot.option !== null).length;
  return {
    id,
    epoch,
    status: sessionStatus(response),
    ballots,
    result: {
      status: response.status,
      winningOption: response.winning_option,
      isTie: response.is_tie,
      earlyTerminated: response.early_terminated,
      terminationReason: response.termination_reason,
      modelsRequested: ballots.length,
      modelsSucceeded: succeeded,
      modelsFailed: ballots.length - succeeded,
      modelsSkipped: response.models_skipped,
      gatherMs: response.timing.gather_ms,
      totalMs: response.timing.total_ms,
      detail: response,
    },
  };
}

/** A session fails when its poll has no valid vote; everything else has an outcome to read. */
export const sessionStatus = (response: PollResponse): 'completed' | 'failed' =>
  response.status === 'failed' ? 'failed' : 'completed';
