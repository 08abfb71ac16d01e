import type { ResultLine } from '@eloquentpoll/storage';
import { badge, type Tone, table } from '../components.ts';
import { moment, seconds, usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { HistoryPage } from './account.ts';

/** The account's polls, paged by links. */
export const historySection = ({
  lines,
  number,
  hasOlder,
}: HistoryPage): Html => html`<section id="history" aria-labelledby="history-title">
<h2 id="history-title">History</h2>
${lines.length === 0 ? html`<p class="muted">${number === 1 ? 'No polls yet.' : 'Nothing is this old.'}</p>` : historyTable(lines)}
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
    html`<tr><th scope="col">Question</th><th scope="col">Winner</th><th scope="col">When</th><th scope="col">Status</th><th scope="col" class="number">Votes</th><th scope="col" class="number">Cost</th><th scope="col" class="number">Time</th></tr>`,
    lines.map(
      (line) => html`<tr>
<th scope="row" class="about" dir="auto"><a href="/result/${line.resultId}">${beginning(line.question)}</a></th>
<td class="winner" dir="auto">${line.winningOption ?? (line.isTie ? 'Tie' : 'No votes')}</td>
<td class="when">${moment(line.createdAt)}</td>
<td>${badge(line.status, TONES[line.status])}</td>
<td class="number">${line.modelsSucceeded} of ${line.modelsRequested}</td>
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

const TONES: Record<ResultLine['status'], Tone> = { success: 'good', partial: 'warn', failed: 'bad' };
