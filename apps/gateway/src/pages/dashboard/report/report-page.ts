import type { BatchReport, BatchReportPanel } from '@eloquentpoll/contracts';
import type { Facts } from '../../../discovery/documents/facts.ts';
import { notice, table } from '../../components.ts';
import { percent, usd, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { panelTitle } from '../../panels.ts';
import { dashboardLayout } from '../dashboard-layout.ts';
import { between, measured, perRight } from './measured.ts';
import { panelSections } from './panel-section.ts';
import { rightSection } from './right-section.ts';

/** /dashboard/batches/{id}/report: how often the batch was right, and how other choices would have done. */
export const reportPage = (facts: Facts, report: BatchReport): string =>
  dashboardLayout({
    baseUrl: facts.baseUrl,
    path: `/dashboard/batches/${report.batch_id}/report`,
    heading: 'Report',
    aside: html`<p class="muted small"><a href="/dashboard/batches/${report.batch_id}">Batch</a> · <a href="/api/batches/${report.batch_id}/report">JSON</a></p>`,
    styles: ['trust', 'report'],
    main: html`<p class="lead">${leadOf(report)}</p>
${progressNote(report)}
${report.simulated ? notice(html`<p>These models are simulated, and so are all figures here.</p>`, 'warn') : ''}
${report.polls === 0 ? '' : figures(report)}`,
  });

function leadOf({ accuracy, rows }: BatchReport): string {
  if (accuracy.share === null) return 'No row has been judged yet.';
  return `${whole(accuracy.count)} of ${whole(rows.judged)} answers were right: ${percent(accuracy.share, 1)}, with a 95% interval from ${between(accuracy)}.`;
}

function progressNote({ complete, rows }: BatchReport): Html {
  const left = [
    rows.without_gold > 0 ? `${whole(rows.without_gold)} had no right answer` : '',
    rows.not_judged > 0 ? `${whole(rows.not_judged)} have no result` : '',
  ].filter(Boolean);
  const missing =
    left.length === 0 ? '' : html`<p class="muted">Of the rows, ${left.join(', and ')}: not counted here.</p>`;
  if (complete) return html`${missing}`;
  return html`${notice(html`<p role="status">Not complete: the figures cover the first ${whole(rows.counted)} of ${whole(rows.total)} rows. Load the page again for more.</p>`, 'accent')}${missing}`;
}

const figures = (report: BatchReport): Html => html`<dl class="grid stats">
<div class="card stat"><dt>Right answers</dt><dd>${measured(report.accuracy)}</dd></div>
<div class="card stat"><dt>Cost per right answer</dt><dd>${perRight(report.cost_per_right_usd)}<span class="muted small">at the flex price</span></dd></div>
<div class="card stat"><dt>Agreement</dt><dd>${percent(report.agreement.mean, 1)}<span class="muted small">of the votes${report.agreement.low === null ? '' : `, ${between(report.agreement)}`}</span></dd></div>
<div class="card stat"><dt>Votes not needed</dt><dd>${percent(report.calls_saved, 1)}<span class="muted small">${whole(report.calls)} of ${whole(report.panel_calls)} were asked</span></dd></div>
</dl>
${report.panels.length > 1 ? presetTable(report.panels) : ''}
${panelSections(report.panels)}
${rightSection(report)}
<h2 id="recommendation">What follows</h2>
<div class="card">${report.recommendation.sentences.map((sentence) => html`<p>${sentence}</p>\n`)}</div>
<p class="muted small">${whole(report.no_answer)} polls ended in a tie or without a vote and count as wrong. Intervals of shares are exact 95% intervals.</p>`;

const presetTable = (panels: readonly BatchReportPanel[]): Html => html`<h2 id="presets">By preset</h2>
${table(
  'Right answers and costs of each preset',
  html`<tr><th scope="col">Preset</th><th scope="col" class="number">Right</th><th scope="col" class="number">Cost per right answer</th><th scope="col" class="number wide-only">Cost per poll</th><th scope="col" class="number">Polls</th></tr>`,
  panels.map(
    (
      panel,
    ) => html`<tr><th scope="row">${panelTitle(panel.preset)}</th><td class="number">${measured(panel.accuracy)}</td><td class="number">${perRight(panel.cost_per_right_usd)}</td><td class="number wide-only">${usd(panel.cost_usd / panel.polls)}</td><td class="number">${whole(panel.polls)}</td></tr>
`,
  ),
)}`;
