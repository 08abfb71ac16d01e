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

/** Each preset: what other thresholds and its models alone would have come to, and whether its confidence came true. */
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
<p>${askedText(panel)} From the votes that came in, we worked out where other thresholds would have stopped.</p>
${worthPlot(panel)}
${thresholdTable(panel)}
${heading('Each model alone')}
${modelTable(panel)}
${heading('Confidence against the whole panel')}
${calibrationSection(panel)}`;
}

function askedText({ confidence_threshold: { min, max } }: BatchReportPanel): string {
  if (min === max)
    return `These polls stopped at a confidence of ${min}${min === 1 ? ': only where no vote could change the answer' : ''}.`;
  return `These polls stopped at a confidence of ${min} to ${max}, as their rows said.`;
}

function calibrationSection({ calibration, order_unknown: unordered = 0 }: BatchReportPanel): Html {
  const { polls, unknown, bands, error } = calibration;
  if (error === null) return html`<p>${notKnownText(unknown - unordered, unordered)}</p>`;
  return html`<p>What ${whole(polls)} polls said while they could still change, and how often the whole panel then elected the leader of that moment.${unknown > 0 ? ` Of ${whole(unknown)} more that is not known.` : ''} On average the two are ${(100 * error).toFixed(1)} points apart.</p>
<div class="beside">${bandPlot(bands)}
${bandTable(bands)}</div>`;
}

function notKnownText(stopped: number, unordered: number): string {
  if (stopped > 0)
    return `Not known: ${whole(stopped)} polls stopped before it was certain what the whole panel would elect, and those are the ones that agreed. Ask the same rows with a threshold of 1, and this shows how far confidence can be trusted on them.`;
  if (unordered > 0)
    return `Not known: ${whole(unordered)} polls changed their worker on the way, so that the order of their votes is not known. Ask the same rows again, and this shows how far confidence can be trusted on them.`;
  return 'No poll had a leader that could still change.';
}
