import type { CalibrationStops, PublishedCalibration } from '@eloquentpoll/contracts';
import { STRONG_EVIDENCE } from '@eloquentpoll/evidence';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { CountedWindow } from '../../discovery/reputations.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { notice } from '../components.ts';
import { percent, whole, windowText } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';
import { agreementSection } from './agreement-section.ts';
import { bandPlot } from './band-plot.ts';
import { allowed, bandTable, evidence, groupTables, interval } from './trust-tables.ts';

/** GET /trust: how often confidence came true, and how that is known. */
export function trustPage(facts: Facts, calibration: PublishedCalibration, window: CountedWindow): string {
  const { stops, bands, audits, simulated } = calibration;
  return layout({
    baseUrl: facts.baseUrl,
    path: '/trust',
    title: 'How often confidence came true · EloquentPoll',
    description: headline(calibration),
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog', 'trust'],
    main: html`<h1>Does the confidence come true?</h1>
<p class="lead">${headline(calibration)}</p>
${simulated ? notice(html`<p>These models are simulated, and so are all figures here.</p>`, 'warn') : ''}
${stops.polls === 0 ? '' : stopCards(stops)}
<h2 id="bands">What polls said, and what came true</h2>
${
  bands.length === 0
    ? html`<p>There is nothing to compare yet.${audits === 0 ? missingText(facts) : ''}</p>`
    : html`<p>Every confidence that these polls showed while they ran, and how often the whole panel then elected the leader of that moment.</p>
<div class="beside">${bandPlot(bands)}
${bandTable(bands)}</div>`
}
${audits === 0 ? '' : html`<h2 id="groups">By panel, order and month</h2>\n${groupTables(calibration, facts.config.audits.gate)}`}
<h2 id="agreement">How alike the models are</h2>
${agreementSection(calibration.agreement, facts)}
<h2 id="accuracy">Were the answers right?</h2>
${accuracySection(calibration, window)}
<h2 id="method">How we know</h2>
${method(calibration, facts)}
<p>All figures: <a href="/api/calibration">JSON</a>, <a href="/api/calibration.csv">CSV</a>. <span class="muted small">Updated every five minutes.</span></p>`,
  });
}

function headline({ stops, audits }: PublishedCalibration): string {
  if (audits === 0) return 'No audits yet: confidence is the exact calculation alone.';
  const polls = audits === 1 ? '1 poll was' : `${whole(audits)} polls were`;
  if (stops.polls === 0)
    return `${polls} audited. None of them had stopped early on its confidence, so there is no figure yet.`;
  return `When polls stopped early, they said ${percent(stops.said)} on average. The whole panel then agreed in ${percent(stops.came_true)} of ${whole(stops.polls)} audited ${stops.polls === 1 ? 'poll' : 'polls'}.`;
}

const missingText = ({ config }: Facts): string =>
  config.audits.rate > 0
    ? ' Polls of every panel are drawn to be audited; the first ones appear here within minutes.'
    : ' This installation makes no audits.';

function stopCards(stops: CalibrationStops): Html {
  return html`<dl class="grid stats">
<div class="card stat"><dt>Said when they stopped</dt><dd>${percent(stops.said, 1)}</dd></div>
<div class="card stat"><dt>Came true</dt><dd>${percent(stops.came_true, 1)}<span class="muted small">95% interval ${interval(stops)}</span></dd></div>
<div class="card stat"><dt>Wrong stops</dt><dd>${whole(stops.wrong)}<span class="muted small">of ${allowed(stops.allowed)} that the promise allows</span></dd></div>
</dl>
<p>${promiseText(stops)}</p>`;
}

function promiseText({ evidence_kept: kept, evidence_broken: broken }: CalibrationStops): string {
  const scale = `Each threshold is judged by itself. From ${STRONG_EVIDENCE} on evidence counts as strong, at whatever moment one looks.`;
  if (broken >= STRONG_EVIDENCE)
    return `Evidence that more stops are wrong than promised: ${evidence(broken)}. ${scale}`;
  const tooFew = kept >= STRONG_EVIDENCE ? '' : ' There are too few audits to be sure.';
  return `Evidence that no more stops are wrong than promised: ${evidence(kept)}. ${scale}${tooFew}`;
}

function accuracySection({ accuracy }: PublishedCalibration, window: CountedWindow): Html {
  return html`${accuracy.map(({ judged, right, share, low, high }) =>
    judged === 0
      ? html`<p>No caller has said yet whether an outcome ${windowText(window)} was right.</p>`
      : html`<p>Callers said of ${whole(judged)} outcomes ${windowText(window)} whether they were right: ${whole(right)} were, ${percent(share)} (95% interval ${interval({ low, high })}).</p>`,
  )}<p class="muted">Confidence does not say that an answer is right. It says that asking the remaining models would not change the winner.</p>`;
}

function method({ confidence_threshold: threshold, since, audits }: PublishedCalibration, { config }: Facts): Html {
  const makesAudits = audits > 0 || config.audits.rate > 0;
  return html`<ul>
<li>A poll may stop before every model was asked, when its winner is likely enough to stay: ${percent(threshold)}, unless the caller sets another threshold.</li>
<li>${makesAudits ? 'Some polls are' : 'Where audits are switched on, some polls are'} drawn at random before they start. After their answer was delivered, we ask the models that are left and pay for them. The answer does not change.</li>
<li>What is kept of them are numbers, no question and no answer. Deleted polls are never audited.</li>
<li>A poll that ended because no vote could change its winner proves nothing about confidence, and is not counted as a stop here.</li>
<li>Panels that callers put together themselves are not audited: there are too many of them.</li>
<li>Where a panel asks its cheapest models first, audits can lower the confidence of later polls whose votes stand the same, never raise it.${since === null ? '' : ` Figures here begin in ${since}.`}</li>
</ul>`;
}
