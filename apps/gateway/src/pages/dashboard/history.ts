import type { ResultLine } from '@eloquentpoll/storage';
import { bandOf } from '@eloquentpoll/voting/verdict';
import { badge, table } from '../components.ts';
import { seconds, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { localTime } from '../result-parts.ts';
import type { HistoryPage } from './account.ts';

/** The account's polls, paged by links. */
export const historySection = ({
  lines,
  number,
  hasOlder,
}: HistoryPage): Html => html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${lines.length === 0 ? html`<p class="muted">${number === 1 ? html`No polls yet. <a href="#run">Run your first one</a>.` : html`No polls here. <a href="/dashboard#history">Back to the newest</a>`}</p>` : historyTable(lines)}
<nav class="pager" aria-label="Pages of the history">
<span>${number > 1 ? html`<a rel="prev" href="${pathOf(number - 1)}">Newer</a>` : ''}</span>
<span class="muted">Page ${number}</span>
<span>${hasOlder ? html`<a rel="next" href="${pathOf(number + 1)}">Older</a>` : ''}</span>
</nav>
</section>
`;

const pathOf = (number: number): string => (number === 1 ? '/dashboard#history' : `/dashboard?page=${number}#history`);

const historyTable = (lines: readonly ResultLine[]): Html =>
  table(
    'Results, newest first',
    html`<tr><th scope="col">Question</th><th scope="col">Winner</th><th scope="col">Agreement</th><th scope="col">When</th><th scope="col">Panel</th><th scope="col" class="number">Cost</th><th scope="col" class="number">Time</th></tr>`,
    lines.map(
      (line) => html`<tr>
<th scope="row" class="about" dir="auto"><a href="/result/${line.resultId}">${beginning(line.question)}</a></th>
<td class="winner" dir="auto">${line.winningOption ?? (line.isTie ? 'Tie' : 'No votes')}</td>
<td class="agreement">${agreement(line)}</td>
<td class="when">${localTime(line.createdAt.toISOString())}</td>
<td>${line.panelName}</td>
<td class="number">${usd(Number(line.totalCostU) / 1_000_000)}</td>
<td class="number">${seconds(line.totalMs)}</td>
</tr>
`,
    ),
  );

/** A row shows the beginning of the question; the result page has all of it. */
function beginning(question: string): string {
  const characters = [...question];
  return characters.length <= SHOWN ? question : `${characters.slice(0, SHOWN).join('').trimEnd()}…`;
}

const SHOWN = 120;

/** How close it was. Only what is not as one expects is marked. */
function agreement({ status, counts, modelsRequested, modelsSucceeded }: ResultLine): Html {
  const band = bandOf(counts);
  const words = counts.length === 0 ? '' : `${counts.join(':')}${band ? ` ${band}` : ''}`;
  if (status === 'failed') return badge('No answer', 'bad');
  if (status === 'partial') return html`${words} ${badge(`${modelsRequested - modelsSucceeded} failed`, 'warn')}`;
  return band === 'split' || band === 'tied' ? badge(words, 'accent') : html`${words}`;
}
