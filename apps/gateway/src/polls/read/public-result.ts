import type {
  HistoryResult,
  PanelStanding,
  PollReading,
  PollResponse,
  PublicVote,
  RecentResult,
  ResultDetail,
  Timing,
  VoteResult,
} from '@eloquentpoll/contracts';
import { verdictOf } from '@eloquentpoll/polls';
import type { Result, ResultLine } from '@eloquentpoll/storage';
import { decimalUsd } from '../order/decimal-usd.ts';

// Stored results, in the public form for anyone with the id and in the form for their owner's lists. The public form is
// written out field by field, so that no private field can slip in.

export function toResultDetail(result: Result): ResultDetail {
  const response: PollResponse = result.detail;
  return {
    poll_id: response.poll_id,
    status: response.status,
    question: response.question,
    options: response.options,
    poll_type: response.poll_type,
    winning_option: response.winning_option,
    is_tie: response.is_tie,
    confidence_threshold: response.confidence_threshold,
    max_cost_usd: response.max_cost_usd,
    early_terminated: response.early_terminated,
    termination_reason: response.termination_reason,
    models_skipped: response.models_skipped,
    tally: response.tally,
    votes: response.votes.map(toPublicVote),
    models_requested: result.modelsRequested,
    models_succeeded: result.modelsSucceeded,
    models_failed: result.modelsFailed,
    timing: toPublicTiming(response.timing),
    created_at: result.createdAt.toISOString(),
    confidence: response.confidence,
    ...(response.chances && { chances: response.chances }),
    ...(response.track_record && { track_record: response.track_record }),
    ...(response.asking && { asking: response.asking }),
    verdict: verdictOf(response, { isCanceled: result.isCanceled }),
    ...(response.panel && { panel: toPublicPanel(response.panel) }),
    ...(response.reading && { reading: toPublicReading(response.reading) }),
    preset: response.preset,
    simulated: response.simulated,
    ...(response.expires_at !== undefined && { expires_at: response.expires_at }),
  };
}

const toPublicReading = ({ winner, differs, likelihood, version }: PollReading): PollReading => ({
  winner,
  differs,
  likelihood,
  version,
});

const toPublicPanel = (panel: PanelStanding): PanelStanding => ({
  asked: panel.asked,
  heard: panel.heard,
  missing: panel.missing.map(({ model_id, error }) => ({ model_id, error })),
  vendors_heard: panel.vendors_heard,
  effective_votes: panel.effective_votes,
  slowest_heard_ms: panel.slowest_heard_ms,
});

const toPublicTiming = ({ gather_ms, total_ms, arrivals }: Timing): Timing => ({
  gather_ms,
  total_ms,
  ...(arrivals && {
    arrivals: arrivals.map(({ at_ms, confidence, chances, track_record }) => ({
      at_ms,
      confidence,
      ...(chances && { chances }),
      ...(track_record && { track_record }),
    })),
  }),
});

const toPublicVote = (vote: VoteResult): PublicVote => ({
  model_id: vote.model_id,
  success: vote.success,
  chosen_option: vote.chosen_option,
  transition: vote.transition,
  latency_ms: vote.latency_ms,
  error: vote.error,
  ...(vote.reason !== undefined && { reason: vote.reason }),
});

export const toRecentResult = (line: ResultLine): RecentResult => ({
  resultId: line.resultId,
  pollType: line.pollType,
  winningOption: line.winningOption,
  isTie: line.isTie,
  modelsRequested: line.modelsRequested,
  modelsSucceeded: line.modelsSucceeded,
  createdAt: line.createdAt.toISOString(),
});

export const toHistoryResult = (line: ResultLine): HistoryResult => ({
  resultId: line.resultId,
  status: line.status,
  pollType: line.pollType,
  winningOption: line.winningOption,
  isTie: line.isTie,
  modelsRequested: line.modelsRequested,
  modelsSucceeded: line.modelsSucceeded,
  totalCostUsd: decimalUsd(line.totalCostU),
  totalMs: line.totalMs,
  createdAt: line.createdAt.toISOString(),
  expiresAt: line.expiresAt?.toISOString() ?? null,
});
