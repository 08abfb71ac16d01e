import { POLL_CANCELED } from '@eloquentpoll/voting/verdict';
import type { PollPicture, SeenVote } from './poll-picture.ts';

// Folds the events of a stream into the picture of the poll. Each event has the whole state except the earlier votes,
// so a lost event costs the details of one vote and no count.

interface Vote {
  model_id: string;
  chosen_option: string | null;
  latency_ms: number;
  error: string | null;
  estimated_cost?: number;
}

/** A `started` event; only the first one of a connection includes the question. */
export interface ProgressEvent {
  models_requested: number;
  progress: { received: number; failed: number; total: number };
  tally: Record<string, number>;
  confidence: number | null;
  chances?: number[];
  asking?: number;
  vote: Vote | null;
  question?: string;
  options?: string[];
  confidence_threshold?: number;
  page_url?: string;
}

/** The `complete` event. */
export interface EndEvent {
  poll_id: string;
  question: string;
  options: string[];
  tally: Record<string, number>;
  votes: Vote[];
  models_skipped: number;
  termination_reason: PollPicture['reason'];
  confidence: number | null;
  confidence_threshold: number;
  chances?: number[];
  winning_option: string | null;
  max_cost_usd?: number;
  min_cost_usd?: number;
  simulated?: boolean;
  preset?: string;
  costs?: { total_estimated_cost: number };
  timing?: { arrivals?: { chances?: number[] }[] };
  verdict?: { headline: string; text: string };
}

export const NOTHING_YET: PollPicture = {
  options: [],
  tally: [],
  panelSize: 1,
  hasEnded: false,
  reason: null,
  confidence: null,
  votes: [],
  failed: 0,
  odds: [],
  points: [],
  threshold: null,
  asking: null,
};

export function afterProgress(before: PollPicture, event: ProgressEvent): PollPicture {
  const options = event.options ?? before.options;
  const { received, failed, total } = event.progress;
  const seen = event.vote && !before.votes.some(({ model }) => model === event.vote!.model_id);
  const odds = before.odds.filter((each) => each.received < received);
  return {
    ...before,
    options,
    tally: countsOf(options, event.tally),
    panelSize: total,
    failed,
    confidence: event.confidence,
    votes: seen ? [...before.votes, voteOf(options, event.vote!)] : before.votes,
    odds: event.chances ? [...odds, { received, chances: event.chances }] : odds,
    threshold: event.confidence_threshold ?? before.threshold,
    asking: event.asking ?? null,
  };
}

export function afterEnd(before: PollPicture, event: EndEvent): PollPicture {
  const { options, votes } = event;
  const start = before.odds.filter(({ received }) => received === 0);
  const stored = (event.timing?.arrivals ?? []).flatMap(({ chances }, i) =>
    chances ? [{ received: i + 1, chances }] : [],
  );
  return {
    ...before,
    options,
    tally: countsOf(options, event.tally),
    panelSize: votes.length + event.models_skipped,
    hasEnded: true,
    reason: event.termination_reason,
    isCanceled: saysCanceled(event),
    confidence: event.confidence,
    votes: votes.map((vote) => voteOf(options, vote)),
    failed: votes.filter(({ chosen_option }) => chosen_option === null).length,
    odds: stored.length > 0 ? [...start, ...stored] : before.odds,
    threshold: event.confidence_threshold,
    asking: 0,
  };
}

/**
 * If no call was running, only the words of the verdict say that the poll was canceled. Options, which may be any text,
 * are in its headline alone.
 */
const saysCanceled = ({ termination_reason, verdict }: EndEvent): boolean =>
  termination_reason === null && verdict?.text.slice(verdict.headline.length).includes(POLL_CANCELED) === true;

/** Own properties only: an option may be named like a property of Object.prototype. */
const countsOf = (options: readonly string[], tally: Record<string, number>): number[] =>
  options.map((option) => (Object.hasOwn(tally, option) ? tally[option]! : 0));

const voteOf = (options: readonly string[], { model_id, chosen_option, error, latency_ms }: Vote): SeenVote => ({
  model: model_id,
  option: chosen_option === null ? null : options.indexOf(chosen_option),
  error,
  latencyMs: latency_ms,
});
