import { isFree } from '@eloquentpoll/polls';
import { bandOf } from '@eloquentpoll/voting/verdict';
import { againLink, freePollLink } from '../ask-again.ts';
import { badge, table } from '../components.ts';
import { seconds, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import type { HistoryRow } from './read-polls.ts';

/** `isChosen`: adds a checkbox to each row, for a form around the table. */
export const pollsTable = (label: string, rows: readonly HistoryRow[], { isChosen = false } = {}): Html =>
  table(
    label,
    html`<tr>${isChosen ? html`<th scope="col" class="choose"><input type="checkbox" data-check-all hidden aria-label="Check all"></th>` : ''}<th scope="col">Question</th><th scope="col">Winner</th><th scope="col" class="wide-only">Agreement</th><th scope="col" class="wide-only">When</th><th scope="col" class="wide-only">Panel</th><th scope="col" class="number wide-only">Cost</th><th scope="col" class="number wide-only">Took</th><th scope="col" class="wide-only"><span class="hidden-text">Again</span></th></tr>`,
    rows.map(
      (row) => html`<tr>
${isChosen ? html`<td class="choose"><input type="checkbox" name="id" value="${row.pollId}" aria-label="Check: ${beginning(row.question)}"></td>\n` : ''}<th scope="row" class="about"><span dir="auto">${questionOf(row)}</span>${labelsOf(row)}<span class="narrow-only muted small">${localTime(row.createdAt.toISOString(), 'short')}, ${usd(costOf(row))} · ${again(row)}</span></th>
<td class="winner"><span dir="auto">${winnerOf(row)}</span><span class="narrow-only small">${agreement(row)}</span></td>
<td class="agreement wide-only">${agreement(row)}</td>
<td class="when wide-only">${localTime(row.createdAt.toISOString(), 'short')}</td>
<td class="wide-only">${row.outcome.savedPanel ?? row.panelName}</td>
<td class="number wide-only">${usd(costOf(row))}</td>
<td class="number wide-only">${seconds(row.outcome.totalMs)}</td>
<td class="number wide-only">${again(row)}</td>
</tr>
`,
    ),
  );

const costOf = ({ costU }: HistoryRow): number | null => (costU === null ? null : Number(costU) / 1_000_000);

const again = (row: HistoryRow): Html =>
  html`<a href="${linkOf(row)}">Ask again<span class="hidden-text">: ${beginning(row.question)}</span></a>`;

/**
 * A free poll is filled in from its public result; without one its texts go into the address, because they are short.
 */
function linkOf({ pollId, resultId, question, panelName: preset, outcome }: HistoryRow): string {
  if (!isFree(preset)) return againLink({ id: pollId, preset });
  return resultId === null ? freePollLink({ ...outcome, question }) : againLink({ id: resultId, preset });
}

/** Links to the result page, which has the whole question; a poll without a result has no page. */
const questionOf = ({ question, status, resultId, outcome }: HistoryRow): Html =>
  resultId === null && status !== 'running'
    ? html`${beginning(question)}`
    : html`<a href="/result/${outcome.resultId}">${beginning(question)}</a>`;

const SHOWN = 120;

/** The start of the question, for a table row. */
export function beginning(question: string): string {
  const characters = [...question];
  return characters.length <= SHOWN ? question : `${characters.slice(0, SHOWN).join('').trimEnd()}…`;
}

const MAX_LABELS = 3;

/** The first key-value pairs of the caller's metadata. */
function labelsOf({ metadata }: HistoryRow): Html {
  const pairs = Object.entries(metadata ?? {});
  if (pairs.length === 0) return html``;
  const shown = pairs.slice(0, MAX_LABELS).map(([key, value]) => html`<bdi>${key}=${beginning(value)}</bdi> `);
  return html`<span class="labels muted small">${shown}${pairs.length > MAX_LABELS ? `and ${pairs.length - MAX_LABELS} more` : ''}</span>`;
}

function winnerOf({ status, winningOption, isTie, outcome: { counts } }: HistoryRow): string {
  if (status === 'running') return '–';
  return winningOption ?? (isTie ? 'Tie' : counts.length === 0 ? 'No votes' : 'None');
}

/** How the votes were split. Only unusual outcomes get a badge. */
export function agreement({ status: pollStatus, outcome }: HistoryRow): Html {
  const { status, counts, isCanceled } = outcome;
  if (pollStatus === 'running') return badge('Running', 'accent');
  const band = bandOf(counts);
  const shares = counts.length === 1 ? `${counts[0]}:0` : counts.join(':');
  const words = counts.length === 0 ? '' : `${shares}${band ? ` ${band}` : ''}`;
  if (isCanceled) return html`${words} ${badge('Canceled', 'warn')}`;
  if (pollStatus === 'failed' || status === 'failed') return badge('No answer', 'bad');
  if (status === 'partial') return html`${words} ${badge(missing(outcome), 'warn')}`;
  return band === 'split' || band === 'tied' ? badge(words, 'accent') : html`${words}`;
}

/** Says how many models failed or, if none did, how many were not asked. */
const missing = ({ panelSize, modelsAsked, modelsFailed }: HistoryRow['outcome']): string =>
  modelsFailed > 0 ? `${modelsFailed} failed` : `${panelSize - (modelsAsked ?? 0)} not asked`;
