import { LIMITS, PRESETS, type Preset, type ResultDetail } from '@eloquentpoll/contracts';
import type { Advice } from '@eloquentpoll/voting/verdict';
import type { Facts } from '../discovery/documents/facts.ts';
import { aboutUsd } from '../discovery/documents/poll-figures.ts';
import { NAMED, SAVED } from './browser/panel-choice.ts';
import { type Html, html } from './html.ts';

// Links from a result to its next poll. Each opens a form with its fields filled in; nothing is asked before it is sent.

type Asked = Pick<ResultDetail, 'question' | 'options' | 'preset' | 'confidence_threshold' | 'max_cost_usd'> & {
  /** Both are known to its owner alone. */
  saved_panel?: string;
  /** Of a panel whose models were named one by one. */
  models?: readonly string[];
};

interface Changed {
  preset?: string;
  threshold?: number;
  limitUsd?: number;
}

export const freePollLink = ({ question, options }: { question: string | null; options: readonly string[] }): string =>
  `/playground?${fieldsOf(question, options)}`;

/** A saved panel is a choice of its owner's form alone. */
function panelOf({ preset, saved_panel, models }: Asked): string {
  if (saved_panel !== undefined) return `${SAVED}${saved_panel}`;
  if (models !== undefined) return `${NAMED}${models.join(',')}`;
  return isPreset(preset) ? preset : 'broad';
}

const isPreset = (name: string | undefined): name is Preset => PRESETS.some((preset) => preset === name);

const isFree = ({ preset }: Asked): boolean => preset === 'free' || preset === 'free_search';

/** With the fields of the poll, changed where it says so. */
function paidPollLink(asked: Asked, { preset, threshold, limitUsd }: Changed = {}): string {
  const query = fieldsOf(asked.question, asked.options);
  query.set('preset', preset ?? panelOf(asked));
  query.set('threshold', String(threshold ?? asked.confidence_threshold ?? LIMITS.confidence_threshold.default));
  query.set(
    'limit',
    String(
      limitUsd ?? (isFree(asked) ? LIMITS.max_cost_usd.default : (asked.max_cost_usd ?? LIMITS.max_cost_usd.default)),
    ),
  );
  return `/dashboard?${query}#run`;
}

function fieldsOf(question: string | null, options: readonly string[]): URLSearchParams {
  const query = new URLSearchParams({ question: question ?? '' });
  for (const option of options) query.append('option', option);
  return query;
}

export const againLink = (asked: Asked): string => (isFree(asked) ? freePollLink(asked) : paidPollLink(asked));

/** Without the question: the options stay, and the words are new. */
const reworded = (asked: Asked): string =>
  isFree(asked) ? freePollLink({ ...asked, question: '' }) : paidPollLink({ ...asked, question: '' });

const strongPanel = (asked: Asked, { figures }: Pick<Facts, 'figures'>): Html =>
  html`<a class="button secondary" href="${paidPollLink(asked, { preset: 'strong' })}">Ask the strong panel (about ${aboutUsd(figures.strong.cost_usd.expected)})</a>`;

/** What the verdict advises, as links. */
export const adviceLinks = (advice: readonly Advice[], asked: Asked, facts: Pick<Facts, 'figures'>): Html =>
  advice.length === 0 ? html`` : html`<p class="row advice">${advice.map((each) => LINKS[each](asked, facts))}</p>`;

const LINKS: Record<Advice, (asked: Asked, facts: Pick<Facts, 'figures'>) => Html> = {
  ask_strong_panel: strongPanel,
  rephrase: (asked) => html`<a class="button secondary" href="${againLink(asked)}">Rephrase</a>`,
  retry: (asked) => html`<a class="button secondary" href="${againLink(asked)}">Retry</a>`,
  raise_limit: (asked) =>
    html`<a class="button secondary" href="${paidPollLink(asked, { limitUsd: raised(asked) })}">Raise the limit</a>`,
};

const raised = ({ max_cost_usd: limit }: Asked): number =>
  Math.min(LIMITS.max_cost_usd.max, Math.max(LIMITS.max_cost_usd.default, 10 * (limit ?? 0)));

export const askAgain = (result: ResultDetail & Asked, facts: Pick<Facts, 'figures'>, together: Html): Html =>
  html`<section class="card stack ask-again" id="again"><h2>Ask again</h2>
${together}
<p class="row"><a class="button" href="${againLink(result)}">Edit and ask again</a>
<a class="button secondary" href="${reworded(result)}">Another wording</a>
${result.models_skipped > 0 && result.votes.length > 0 ? html`<a class="button secondary" href="${paidPollLink(result, { threshold: 1 })}">Ask the full panel</a>` : ''}
${result.preset === 'strong' ? '' : strongPanel(result, facts)}</p>
<p class="hint">Each opens a form with the fields filled in. Nothing is asked before you send it.</p></section>`;
