import type { ResultLine } from '@eloquentpoll/storage';
import { bandOf } from '@eloquentpoll/voting/verdict';
import { badge, table } from '../components.ts';
import { seconds, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';

/** Ended polls, newest first. */
export const pollsTable = (label: string, lines: readonly ResultLine[]): Html =>
  table(
    label,
    html`<tr><th scope="col">Question</th><th scope="col">Winner</th><th scope="col">Agreement</th><th scope="col" class="wide-only">When</th><th scope="col" class="wide-only">Panel</th><th scope="col" class="number wide-only">Cost</th><th scope="col" class="number wide-only">Took</th></tr>`,
    lines.map(
      (line) => html`<tr>
<th scope="row" class="about" dir="auto"><a href="/result/${line.resultId}">${beginning(line.question)}</a><span class="narrow-only muted small" dir="ltr">${whenOf(line)}, ${costOf(line)}</span></th>
<td class="winner" dir="auto">${line.winningOption ?? (line.isTie ? 'Tie' : 'No votes')}</td>
<td class="agreement">${agreement(line)}</td>
<td class="when wide-only">${whenOf(line)}</td>
<td class="wide-only">${line.panelName}</td>
<td class="number wide-only">${costOf(line)}</td>
<td class="number wide-only">${seconds(line.totalMs)}</td>
</tr>
`,
    ),
  );

const whenOf = ({ createdAt }: ResultLine): Html => localTime(createdAt.toISOString(), 'short');

const costOf = ({ totalCostU }: ResultLine): string => usd(Number(totalCostU) / 1_000_000);

/** A row shows the beginning of the question; the result page has all of it. */
function beginning(question: string): string {
  const characters = [...question];
  return characters.length <= SHOWN ? question : `${characters.slice(0, SHOWN).join('').trimEnd()}…`;
}

const SHOWN = 120;

/** How close it was. Only what is not as one expects is marked. */
function agreement({ status, counts, isCanceled, modelsRequested, modelsSucceeded }: ResultLine): Html {
  const band = bandOf(counts);
  const shares = counts.length === 1 ? `${counts[0]}:0` : counts.join(':');
  const words = counts.length === 0 ? '' : `${shares}${band ? ` ${band}` : ''}`;
  if (isCanceled) return html`${words} ${badge('Canceled', 'warn')}`;
  if (status === 'failed') return badge('No answer', 'bad');
  if (status === 'partial') return html`${words} ${badge(`${modelsRequested - modelsSucceeded} failed`, 'warn')}`;
  return band === 'split' || band === 'tied' ? badge(words, 'accent') : html`${words}`;
}
