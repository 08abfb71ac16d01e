import { LIMITS, PRESETS, type Preset, type ResultDetail } from '@eloquentpoll/contracts';
import { isFree } from '@eloquentpoll/polls';
import type { Advice } from '@eloquentpoll/voting/verdict';
import type { Facts } from '../discovery/documents/facts.ts';
import { aboutUsd } from '../discovery/documents/poll-figures.ts';
import { NAMED, SAVED } from './browser/panel-choice.ts';
import type { FreePoll } from './free-poll-form.ts';
import { type Html, html } from './html.ts';

// Links from a result to its next poll. Each opens a form with its fields filled in; nothing is asked before it is sent.

export type AskedPoll = Pick<
  ResultDetail,
  'question' | 'options' | 'preset' | 'confidence_threshold' | 'max_cost_usd'
> & {
  /** Both are known to its owner alone. */
  saved_panel?: string;
  /** Of a panel whose models were named one by one. */
  models?: readonly string[];
} & Extras;

/** What a poll asks of its models beside a vote. The form has a box for each, where the poll before it had it. */
export interface Extras {
  /** They search the web. */
  search: boolean;
  /** One sentence each. */
  reasons: boolean;
}

/** A result, or a session of the reader, which the form is filled from. */
interface Source {
  id: string;
  preset?: string | undefined;
}

interface Changed {
  preset?: string;
  threshold?: number;
  limitUsd?: number;
  /** Without the question: the options stay, and the words are new. */
  isReworded?: boolean;
}

/** With a poll of ours, which is short. Others go by their id: an address holds 16 KiB at most. */
export function freePollLink({ question, options, search, reasons }: FreePoll): string {
  const query = new URLSearchParams({ question });
  for (const option of options) query.append('option', option);
  if (search) query.set('search', 'true');
  if (reasons) query.set('reasons', 'true');
  return `/playground?${query}`;
}

/** A saved panel is a choice of its owner's form alone. */
function panelOf({ preset, saved_panel, models }: AskedPoll): string {
  if (saved_panel !== undefined) return `${SAVED}${saved_panel}`;
  if (models !== undefined) return `${NAMED}${models.join(',')}`;
  return isPreset(preset) ? preset : 'broad';
}

/** Of a custom panel others know the models that were asked. */
export function publicModels({ preset, votes }: ResultDetail): string[] | null {
  const isPanel = preset === 'custom' && votes.length >= LIMITS.chosen_models.min;
  return isPanel ? votes.map(({ model_id }) => model_id) : null;
}

const isPreset = (name: string | undefined): name is Preset => PRESETS.some((preset) => preset === name);

/** What the form of a paid poll is filled with. */
export interface FilledPoll extends Extras {
  question: string;
  options: readonly string[];
  /** Of the field of the panel. */
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

/** The address has the id of the poll, and what is to differ from it. */
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

/** Of a result. */
type Ended = Source & Pick<ResultDetail, 'max_cost_usd'>;

const strongPanel = (asked: Ended, { figures }: Pick<Facts, 'figures'>): Html =>
  html`<a class="button secondary" href="${paidPollLink(asked, { preset: 'strong' })}">Ask the strong panel (about ${aboutUsd(figures.strong.cost_usd.expected)})</a>`;

/** What the verdict advises, as links. */
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

/** At a threshold of 1 it goes on until no vote can change the winner. A free poll has no threshold to choose. */
const isStoppedOnConfidence = (result: ResultDetail): boolean =>
  !isFree(result.preset) && result.termination_reason === 'confidence';
