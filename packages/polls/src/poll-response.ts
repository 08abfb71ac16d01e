import type {
  PollReading,
  PollResponse,
  PollSpec,
  TerminationReason,
  Timing,
  Vote,
  VoteResult,
} from '@eloquentpoll/contracts';
import { type Conclusion, conclude, type PollState } from '@eloquentpoll/voting';
import { chancesInOrder } from '@eloquentpoll/voting/chances';
import { panelStanding } from './panel-standing.ts';
import { maxCostUsdOf } from './poll-spec.ts';
import { askedByRecord, stoodAlikeJson } from './stood-alike.ts';
import { ownersFigures, verdictOf } from './verdict-of.ts';

// The only place that builds the contract's response from a poll's outcome. It is stored, published and sent as built
// here.

export interface PollOutcome {
  resultId: string;
  spec: PollSpec;
  state: PollState;
  /** Null if the deadline or the caller ended the poll. */
  reason: TerminationReason | null;
  /** The caller canceled the poll. */
  isCanceled?: boolean;
  /** The account pays nothing, so nothing was saved for it. */
  isPaidByPool?: boolean;
  votes: readonly Vote[];
  gatherMs: number;
  totalMs: number;
  /** Empty if an earlier worker received some of the votes. */
  arrivals: NonNullable<Timing['arrivals']>;
  /** How many independent votes the votes of these models are worth, if known. */
  effectiveVotes?: number | null;
  /** By option number. Null if not enough is known about the models that voted. */
  reading?: IndexedReading | null;
}

interface IndexedReading {
  readonly winner: number | null;
  readonly likelihood: number | null;
  readonly differs: boolean;
  readonly version: string;
}

export function pollResponse(outcome: PollOutcome): PollResponse {
  const { spec, votes } = outcome;
  const conclusion = conclude(outcome.state, { reason: outcome.reason });
  const response: PollResponse = {
    poll_id: outcome.resultId,
    status: conclusion.status,
    outcome: outcomeOf(spec, conclusion),
    question: spec.question,
    options: spec.options,
    poll_type: 'fptp',
    winning_option: optionText(spec, conclusion.winner),
    is_tie: conclusion.isTie,
    confidence_threshold: spec.confidence_threshold,
    max_cost_usd: maxCostUsdOf(spec),
    early_terminated: conclusion.earlyTerminated,
    termination_reason: conclusion.reason,
    models_skipped: conclusion.skipped,
    tally: tallyByOption(spec.options, conclusion.tally),
    votes: votes.map((vote) => voteResult(spec, vote)),
    timing: {
      gather_ms: Math.round(outcome.gatherMs),
      total_ms: Math.round(outcome.totalMs),
      ...(outcome.arrivals.length > 0 && { arrivals: outcome.arrivals }),
    },
    costs: { total_estimated_cost: usd(votes.reduce((sum, vote) => sum + vote.billed_u, 0)) },
    ...usageOf(votes),
    confidence: conclusion.confidence,
    chances: chancesInOrder(conclusion.chances),
    ...stoodAlikeJson(conclusion.recordUsed),
    ...(spec.track_record && { asking: askedByRecord(spec.track_record, outcome.state) }),
    panel: panelStanding(spec, votes, outcome.effectiveVotes ?? null),
    ...(outcome.reading && { reading: toReading(spec, outcome.reading) }),
    preset: spec.panel_name,
    ...(spec.saved_panel !== undefined && { saved_panel: spec.saved_panel }),
    simulated: spec.simulated,
    ...(spec.expires_at !== undefined && { expires_at: spec.expires_at }),
  };
  if (conclusion.reason === 'budget' && votes.length === 0) {
    response.code = 'budget_too_small';
    response.min_cost_usd = usd(Math.min(...spec.seats.map(({ reserve_u }) => reserve_u)));
  }
  if (outcome.isCanceled && conclusion.status === 'failed') response.code = 'poll_canceled';
  const shown = outcome.isPaidByPool ? atNoCost(response) : response;
  const { isCanceled = false } = outcome;
  return { ...response, verdict: verdictOf(response, { ...ownersFigures(shown), isCanceled }) };
}

function usageOf(votes: readonly Vote[]): Pick<PollResponse, 'usage'> {
  const counted = votes.flatMap(({ tokens }) => (tokens ? [tokens] : []));
  if (votes.length === 0 || counted.length < votes.length) return {};
  const prompt = counted.reduce((sum, tokens) => sum + tokens.prompt, 0);
  const completion = counted.reduce((sum, tokens) => sum + tokens.completion, 0);
  return { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } };
}

const toReading = (spec: PollSpec, { winner, likelihood, differs, version }: IndexedReading): PollReading => ({
  winner: optionText(spec, winner),
  differs,
  likelihood: likelihood === null ? null : shownLikelihood(likelihood),
  version,
});

/** Never 1: how much the votes of these models depend on each other is known only on average. */
const shownLikelihood = (likelihood: number): number => Math.min(0.999, Math.round(1_000 * likelihood) / 1_000);

/**
 * What a poll was charged, if that is more than the sum of its votes. Decided when it is stored, from what is left of
 * the account's allowance for failed calls.
 */
export interface Charges {
  /** In the order of the response's votes. */
  votesU: readonly number[];
  /** The part for calls that failed because of the question. */
  failedCallsU: number;
}

/** Keeps the order of the members, so that only amounts differ between the responses. */
export function withCharges(response: PollResponse, charges: Charges | null): PollResponse {
  if (charges === null) return response;
  const { votesU, failedCallsU } = charges;
  return {
    ...response,
    votes: response.votes.map((vote, i) => ({ ...vote, estimated_cost: usd(votesU[i] ?? 0) })),
    costs: {
      total_estimated_cost: usd(votesU.reduce((sum, voteU) => sum + voteU, 0)),
      ...(failedCallsU > 0 && { failed_calls_cost: usd(failedCallsU) }),
    },
  };
}

/**
 * The response as shown to callers of polls that the free pool pays for: the cost is 0, and the operator's cost stays
 * private.
 */
export const atNoCost = (response: PollResponse): PollResponse => ({
  ...response,
  votes: response.votes.map((vote) => ({ ...vote, estimated_cost: 0 })),
  costs: { total_estimated_cost: 0 },
});

export function voteResult(spec: PollSpec, vote: Vote): VoteResult {
  return {
    model_id: vote.model_id,
    success: vote.option !== null,
    chosen_option: optionText(spec, vote.option),
    transition: 'vote',
    latency_ms: vote.latency_ms,
    estimated_cost: usd(vote.billed_u),
    error: vote.error,
    ...(vote.reason !== undefined && { reason: vote.reason }),
  };
}

/** Keys are option texts, which can be anything, even `__proto__`. */
export const tallyByOption = (options: readonly string[], tally: readonly number[]): Record<string, number> =>
  Object.fromEntries(options.map((option, i) => [option, tally[i] ?? 0]));

/** A run fails if its poll has no valid vote. Every other poll has an outcome. */
export const runStatusOf = ({ status }: Pick<PollResponse, 'status'>): 'completed' | 'failed' =>
  status === 'failed' ? 'failed' : 'completed';

function outcomeOf(spec: PollSpec, { winner, isTie }: Conclusion): string {
  return optionText(spec, winner) ?? (isTie ? 'tie' : 'no_votes');
}

const optionText = ({ options }: PollSpec, option: number | null): string | null =>
  option === null ? null : (options[option] ?? null);

const usd = (microUsd: number): number => microUsd / 1_000_000;
