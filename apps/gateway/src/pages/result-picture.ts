import type { ResultDetail } from '@eloquentpoll/contracts';
import { chances, chancesInOrder } from '@eloquentpoll/voting/chances';
import type { LeadPoint, Odds, PollPicture } from './browser/poll-picture.ts';

/** Converts a stored result to what pages draw. */
export function pictureOf(result: ResultDetail): PollPicture {
  const { options, tally, votes } = result;
  const panelSize = votes.length + result.models_skipped;
  const odds = oddsOf(result, panelSize);
  return {
    options,
    tally: options.map((option) => countOf(tally, option)),
    panelSize,
    hasEnded: true,
    reason: result.termination_reason,
    confidence: result.confidence ?? null,
    votes: votes.map(({ model_id, chosen_option, error, latency_ms }) => ({
      model: model_id,
      option: chosen_option === null ? null : options.indexOf(chosen_option),
      error,
      latencyMs: latency_ms,
    })),
    failed: votes.filter(({ chosen_option }) => chosen_option === null).length,
    odds,
    points: odds.length > 0 ? [] : leadPoints(result),
    threshold: result.confidence_threshold,
    asking: 0,
  };
}

function oddsOf({ options, timing: { arrivals = [] } }: ResultDetail, panelSize: number): Odds[] {
  const recorded = arrivals.flatMap(({ chances }, i) => (chances ? [{ received: i + 1, chances }] : []));
  if (recorded.length === 0) return [];
  // Before the first vote all options are equally likely. Failure rates of models are not stored, so they count as 0.
  const start = chances(
    options.map(() => 0),
    Array.from({ length: panelSize }, () => 0),
  );
  return [{ received: 0, chances: chancesInOrder(start) }, ...recorded];
}

/** For results stored before the odds of every option were: the leader after each vote, and its confidence. */
function leadPoints({ options, votes, timing: { arrivals = [] } }: ResultDetail): LeadPoint[] {
  const counts = options.map(() => 0);
  return arrivals.flatMap(({ confidence }, i) => {
    const option = options.indexOf(votes[i]?.chosen_option ?? '');
    if (option >= 0) counts[option]! += 1;
    const leader = counts.indexOf(Math.max(...counts));
    return confidence === null ? [] : [{ received: i + 1, option: leader, confidence }];
  });
}

/** Own properties only: an option may be named like a property of Object.prototype. */
export const countOf = (tally: Record<string, number>, option: string): number =>
  Object.hasOwn(tally, option) ? (tally[option] ?? 0) : 0;
