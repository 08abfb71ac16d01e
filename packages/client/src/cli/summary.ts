import type { PollResponse, ResultDetail } from '../eloquentpoll.ts';
import { votesFor } from './picture.ts';
import { plain } from './plain-text.ts';

/** A result as its owner or the public reads it. */
export type ShownOutcome = PollResponse | ResultDetail;

const WHY = {
  mathematical_lock: 'no vote left could change it',
  confidence: 'it was certain enough',
  budget: 'the budget was used up',
  roster_exhausted: 'all models were asked',
} as const;

/** The outcome in one sentence. */
export function outcomeSentence(outcome: ShownOutcome): string {
  const { winning_option, is_tie, tally, options, votes, confidence, status } = outcome;
  const valid = votes.filter(({ success }) => success).length;
  if (winning_option === null) {
    if (!is_tie) return 'No votes: no model gave a valid answer.';
    const most = Math.max(...options.map((option) => votesFor(tally, option)));
    const tied = options.filter((option) => votesFor(tally, option) === most).map(plain);
    return `A tie between ${list(tied)}, with ${plural(most, 'vote')} each.`;
  }
  const share = `${votesFor(tally, winning_option)} of ${plural(valid, 'vote')}`;
  const sure = typeof confidence === 'number' ? `, confidence ${share3(confidence)}` : '';
  const partial = status === 'partial' ? ' (partial: missing votes could have changed it)' : '';
  return `${plain(winning_option)} wins with ${share}${sure}${partial}.`;
}

/** Details of the result, and its URL. */
export function details(outcome: ShownOutcome): string[] {
  const { termination_reason, models_skipped, timing, poll_id, simulated, votes } = outcome;
  const why = termination_reason === null ? [] : [WHY[termination_reason]];
  const skipped = models_skipped === 0 ? [] : [`${plural(models_skipped, 'model')} not asked`];
  const failed = votes.filter(({ success }) => !success).length;
  const cost = 'costs' in outcome ? [costText(outcome.costs.total_estimated_cost)] : [];
  const facts = [
    ...why,
    ...skipped,
    ...(failed ? [`${failed} failed`] : []),
    ...cost,
    `${(timing.total_ms / 1_000).toFixed(1)} s`,
  ];
  return [facts.join(' · '), poll_id, ...(simulated ? ['The models are simulated, and the answer with them.'] : [])];
}

export const costText = (usd: number): string => `$${usd === 0 ? '0' : usd.toFixed(usd < 0.01 ? 6 : 4)}`;

export const plural = (many: number, noun: string): string => `${many} ${noun}${many === 1 ? '' : 's'}`;

/** Rounded down, so that 99.99 % is not shown as 100 %. */
const share3 = (share: number): string => (Math.floor(share * 1_000) / 1_000).toFixed(3);

const list = (items: readonly string[]): string =>
  items.length < 2 ? items.join() : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
