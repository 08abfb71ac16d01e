import { LIMITS, PRESETS, type Preset, type ResultDetail } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { Advice } from '@eloquentpoll/voting/verdict';
import type { Facts } from '../discovery/documents/facts.ts';
import { aboutUsd } from '../discovery/documents/poll-figures.ts';
import { NAMED, SAVED } from './browser/panel-choice.ts';
import type { FreePoll } from './free-poll-form.ts';
import { type Html, html } from './html.ts';

// Links from a result to a follow-up poll. Each opens a form with its fields filled in; nothing is asked until it is
// sent.

export type AskedPoll = Pick<
  ResultDetail,
  'question' | 'options' | 'preset' | 'confidence_threshold' | 'max_cost_usd'
> & {
  /** `saved_panel` and `models` are known only to the owner. */
  saved_panel?: string;
  /** Set if the models of the panel were named one by one. */
  models?: readonly string[];
} & Extras;

/** What a poll asks of its models besides a vote. The form has a checkbox for those that the earlier poll used. */
export interface Extras {
  /** Models search the web. */
  search: boolean;
  /** Models give a reason of one sentence. */
  reasons: boolean;
}

/** The result or session that fills the form. */
interface Source {
  id: string;
  preset?: string | undefined;
}

interface Changed {
  preset?: string;
  threshold?: number;
  limitUsd?: number;
  /** Keeps the options but not the question, so that the user words it anew. */
  isReworded?: boolean;
}

/**
 * For our own example polls, which are short. Other polls are linked by id, because an address holds at most 16 KiB.
 */
export function freePollLink({ question, options, search, reasons }: FreePoll): string {
  const query = new URLSearchParams({ question });
  for (const option of options) query.append('option', option);
  if (search) query.set('search', 'true');
  if (reasons) query.set('reasons', 'true');
  return `/playground?${query}`;
}

/** Only the owner's form can offer a saved panel. */
function panelOf({ preset, saved_panel, models }: AskedPoll): string {
  if (saved_panel !== undefined) return `${SAVED}${saved_panel}`;
  if (models !== undefined) return `${NAMED}${models.join(',')}`;
  return isPreset(preset) ? preset : 'broad';
}

/** Of a custom panel, other people see only the models that were asked. */
export function publicModels({ preset, votes }: ResultDetail): string[] | null {
  const isPanel = preset === 'custom' && votes.length >= LIMITS.chosen_models.min;
  return isPanel ? votes.map(({ model_id }) => model_id) : null;
}

const isPreset = (name: string | undefined): name is Preset => PRESETS.some((preset) => preset === name);

/** The values that fill the form of a paid poll. */
export interface FilledPoll extends Extras {
  question: string;
  options: readonly string[];
  /** Value of the panel field. */
  choice: string;
  threshold: number;
  limitUsd: number;
}

export const filledFrom = (asked: AskedPoll): FilledPoll => ({
  question: asked.question ?? '',
  options: asked.options,
  choice: panelOf(asked),
  threshold: asked.confidence_threshold ?? LIMITS.confidence_threshold.default,
  limitUsd: (isFree(asked.preset) ? undefined : asked.max_cost_usd) ?? LIMITS.max_cost_usd.default,
  search: asked.search,
  reasons: asked.reasons,
});

/** The address has the id of the poll, and the fields to change. */
function paidPollLink({ id }: Source, { preset, threshold, limitUsd, isReworded }: Changed = {}): string {
  const query = new URLSearchParams({ again: id });
  if (isReworded) query.set('wording', 'new');
  if (preset !== undefined) query.set('preset', preset);
  if (threshold !== undefined) query.set('threshold', String(threshold));
  if (limitUsd !== undefined) query.set('limit', String(limitUsd));
  return `/dashboard?${query}#run`;
}

export const againLink = (source: Source, { isReworded = false } = {}): string =>
  isFree(source.preset)
    ? `/playground?again=${source.id}${isReworded ? '&wording=new' : ''}`
    : paidPollLink(source, { isReworded });

/** An ended poll. */
type Ended = Source & Pick<ResultDetail, 'max_cost_usd'>;

const strongPanel = (asked: Ended, { figures }: Pick<Facts, 'figures'>): Html =>
  html`<a class="button secondary" href="${paidPollLink(asked, { preset: 'strong' })}">Ask the strong panel (about ${aboutUsd(figures.strong.cost_usd.expected)})</a>`;

/** The verdict's advice, as links. */
export const adviceLinks = (advice: readonly Advice[], asked: Ended, facts: Pick<Facts, 'figures'>): Html =>
  advice.length === 0 ? html`` : html`<p class="row advice">${advice.map((each) => LINKS[each](asked, facts))}</p>`;

const LINKS: Record<Advice, (asked: Ended, facts: Pick<Facts, 'figures'>) => Html> = {
  ask_strong_panel: strongPanel,
  rephrase: (asked) => html`<a class="button secondary" href="${againLink(asked)}">Rephrase</a>`,
  retry: (asked) => html`<a class="button secondary" href="${againLink(asked)}">Retry</a>`,
  raise_limit: (asked) =>
    html`<a class="button secondary" href="${paidPollLink(asked, { limitUsd: raised(asked) })}">Raise the limit</a>`,
};

const raised = ({ max_cost_usd: limit }: Ended): number =>
  Math.min(LIMITS.max_cost_usd.max, Math.max(LIMITS.max_cost_usd.default, 10 * (limit ?? 0)));

export const askAgain = (result: ResultDetail & Ended, facts: Pick<Facts, 'figures'>, together: Html): Html =>
  html`<section class="card stack ask-again" id="again"><h2>Ask again</h2>
${together}
<p class="row"><a class="button" href="${againLink(result)}">Edit and ask again</a>
<a class="button secondary" href="${againLink(result, { isReworded: true })}">Another wording</a>
${isStoppedOnConfidence(result) ? html`<a class="button secondary" href="${paidPollLink(result, { threshold: 1 })}">Ask until it is final</a>` : ''}
${result.preset === 'strong' ? '' : strongPanel(result, facts)}</p>
<p class="hint">Each opens a form with the fields filled in. Nothing is asked before you send it.</p></section>`;

/** At a threshold of 1 a poll runs until no vote can change the winner. A free poll has no threshold to choose. */
const isStoppedOnConfidence = (result: ResultDetail): boolean =>
  !isFree(result.preset) && result.termination_reason === 'confidence';
