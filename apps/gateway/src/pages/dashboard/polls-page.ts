import type { ResultLine } from '@eloquentpoll/storage';
import { type Html, html } from '../html.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { pollsTable } from './polls-table.ts';

export const POLLS_PATH = '/dashboard/polls';

export interface HistoryPage {
  lines: readonly ResultLine[];
  /** From 1. */
  number: number;
  hasOlder: boolean;
}

/** The account's polls, paged by links. */
export const pollsPage = (baseUrl: string, { lines, number, hasOlder }: HistoryPage): string =>
  dashboardLayout({
    baseUrl,
    path: POLLS_PATH,
    heading: 'Polls',
    main: html`<section id="history" aria-label="History">
${lines.length === 0 ? html`<p class="muted">${number === 1 ? html`No polls yet. <a href="/dashboard#run">Run your first one</a>.` : html`No polls here. <a href="${POLLS_PATH}">Back to the newest</a>`}</p>` : pollsTable('Polls, newest first', lines)}
${number > 1 || hasOlder ? pager(number, hasOlder) : ''}</section>`,
  });

const pager = (number: number, hasOlder: boolean): Html => html`<nav class="pager" aria-label="Pages of the history">
<span>${number > 1 ? html`<a rel="prev" href="${pathOf(number - 1)}">Newer</a>` : ''}</span>
<span class="muted">Page ${number}</span>
<span>${hasOlder ? html`<a rel="next" href="${pathOf(number + 1)}">Older</a>` : ''}</span>
</nav>
`;

const pathOf = (number: number): string => (number === 1 ? POLLS_PATH : `${POLLS_PATH}?page=${number}`);
