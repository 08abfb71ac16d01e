import type { PollResponse, ResultDetail } from '../eloquentpoll.ts';
import { costText, elapsedText, plural } from './figures.ts';
import { plain } from './plain-text.ts';

/** A result as read by its owner or by the public. */
export type ShownOutcome = PollResponse | ResultDetail;

const WHY = {
  mathematical_lock: 'remaining votes could not change it',
  confidence: 'threshold reached',
  budget: 'cost limit reached',
  roster_exhausted: 'all models were asked',
} as const;

/** The verdict: its headline, and the text below it. */
export function verdictLines(outcome: ShownOutcome): { headline: string; under: string[] } {
  const { verdict, winning_option, is_tie, status } = outcome;
  if (!verdict) {
    const noWinner = is_tie ? 'A tie' : 'No answer';
    return { headline: winning_option === null ? noWinner : winnerText(winning_option, status), under: [] };
  }
  const { headline, text } = verdict;
  // Options in the headline may contain line breaks. The text after the headline is the service's own.
  const under = text.slice(headline.length).split('\n').map(plain);
  return { headline: plain(headline), under: under.filter((line) => line !== '') };
}

/** A winner that missing votes could have changed does not look like another. */
export const winnerText = (option: string, status: ShownOutcome['status'] | undefined): string =>
  status === 'partial' ? `${plain(option)} leads, but missing votes could have changed it` : `${plain(option)} wins`;

/** Why the poll stopped, the models, the cost and the time. */
export function facts(outcome: ShownOutcome): string {
  const { termination_reason, models_skipped, timing, votes } = outcome;
  const failed = votes.filter(({ success }) => !success).length;
  return [
    ...(termination_reason === null ? [] : [WHY[termination_reason]]),
    ...(models_skipped === 0 ? [] : [`${plural(models_skipped, 'model')} not asked`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...('costs' in outcome ? [costText(outcome.costs.total_estimated_cost)] : []),
    elapsedText(timing.total_ms),
  ].join(' · ');
}

/** The models' reasons, which are their own text, not the service's. */
export const reasons = ({ votes }: ShownOutcome): string[] =>
  votes.flatMap(({ model_id, chosen_option, reason }) =>
    reason && chosen_option !== null ? [`${plain(model_id)} for ${plain(chosen_option)}: "${plain(reason)}"`] : [],
  );

/** Hints: what to change, and what the answer does not show. */
export function remarks(outcome: ShownOutcome): string[] {
  const least = 'min_cost_usd' in outcome ? outcome.min_cost_usd : undefined;
  return [
    ...(least === undefined ? [] : [`The lowest limit that covers one vote: --max-cost ${limitText(least)}`]),
    ...(outcome.simulated ? ['Simulated models: not a real answer.'] : []),
  ];
}

/** Not rounded, because a rounded limit may be too low again. */
export const limitText = (usd: number): string => usd.toFixed(6).replace(/\.?0+$/, '');
