import type { BatchReportPanel } from '@eloquentpoll/contracts';
import { tabs } from '../../components.ts';
import { whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { panelTitle } from '../../panels.ts';
import { bandPlot } from '../../trust/band-plot.ts';
import { bandTable } from '../../trust/trust-tables.ts';
import { modelTable } from './model-table.ts';
import { thresholdTable } from './threshold-table.ts';
import { worthPlot } from './worth-plot.ts';

/** For each preset: results of other thresholds and of single models, and whether its confidence proved right. */
export function panelSections(panels: readonly BatchReportPanel[]): Html {
  const [only] = panels;
  if (panels.length === 1) return panelSection(only!, (text) => html`<h2>${text}</h2>`);
  return html`<h2 id="inside">Thresholds and models</h2>
${tabs(
  'Presets',
  panels.map((panel) => ({
    id: `preset-${panel.preset}`,
    title: panelTitle(panel.preset),
    content: panelSection(panel, (text) => html`<h4>${text}</h4>`),
  })),
)}`;
}

function panelSection(panel: BatchReportPanel, heading: (text: string) => Html): Html {
  return html`${heading('Other thresholds')}
<p>${askedText(panel)} From the recorded votes, we computed where other thresholds would have stopped.</p>
${worthPlot(panel)}
${thresholdTable(panel)}
${heading('Each model alone')}
${modelTable(panel)}
${heading('Confidence compared with the full panel')}
${calibrationSection(panel)}`;
}

function askedText({ confidence_threshold: { min, max } }: BatchReportPanel): string {
  if (min === max)
    return `These polls stopped at a confidence of ${min}${min === 1 ? ': only when no further vote could change the answer' : ''}.`;
  return `These polls stopped at a confidence of ${min} to ${max}, as set by their rows.`;
}

function calibrationSection({ calibration, order_unknown: unordered = 0 }: BatchReportPanel): Html {
  const { polls, unknown, bands, error } = calibration;
  if (error === null) return html`<p>${notKnownText(unknown - unordered, unordered)}</p>`;
  return html`<p>The confidence of ${whole(polls)} polls while they could still change, compared with how often the full panel elected the leader of that moment.${unknown > 0 ? ` For ${whole(unknown)} more polls this is not known.` : ''} On average the two are ${(100 * error).toFixed(1)} points apart. By chance alone, exact probabilities would be about 3 points apart in 100 polls and 1 point in 1,000.</p>
<div class="beside">${bandPlot(bands)}
${bandTable(bands)}</div>`;
}

function notKnownText(stopped: number, unordered: number): string {
  if (stopped > 0)
    return `Not known: ${whole(stopped)} polls stopped before the choice of the full panel was certain, and these are the polls in which models agreed. Run the same rows with a threshold of 1 to see how reliable confidence is on them.`;
  if (unordered > 0)
    return `Not known: ${whole(unordered)} polls moved to another worker while running, so that the order of their votes is not known. Run the same rows again to see how reliable confidence is on them.`;
  return 'No poll had a leader that could still change.';
}
