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

/** GET /trust: how often the stated confidence proved right, and how that is known. */
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
<h2 id="bands">Stated confidence, and what came true</h2>
${
  bands.length === 0
    ? html`<p>There is nothing to compare yet.${audits === 0 ? missingText(facts) : ''}</p>`
    : html`<p>The confidences of these polls while they ran, compared with how often the full panel elected the leader of that moment.</p>
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
  if (audits === 0) return 'No audits yet: confidence comes from the exact calculation alone.';
  const polls = audits === 1 ? '1 poll was' : `${whole(audits)} polls were`;
  if (stops.polls === 0)
    return `${polls} audited. None of them was stopped early by its confidence, so there is no figure yet.`;
  return `When polls stopped early, their confidence was ${percent(stops.said)} on average. The full panel elected the same winner in ${percent(stops.came_true)} of ${whole(stops.polls)} audited ${stops.polls === 1 ? 'poll' : 'polls'}.`;
}

const missingText = ({ config }: Facts): string =>
  config.audits.rate > 0
    ? ' Polls of every panel are selected for audits; the first ones appear here within minutes.'
    : ' Audits are switched off on this service.';

function stopCards(stops: CalibrationStops): Html {
  return html`<dl class="grid stats">
<div class="card stat"><dt>Confidence when they stopped</dt><dd>${percent(stops.said, 1)}</dd></div>
<div class="card stat"><dt>Came true</dt><dd>${percent(stops.came_true, 1)}<span class="muted small">95% interval ${interval(stops)}</span></dd></div>
<div class="card stat"><dt>Wrong stops</dt><dd>${whole(stops.wrong)}<span class="muted small">of ${allowed(stops.allowed)} that the promise allows</span></dd></div>
</dl>
<p>${promiseText(stops)}</p>`;
}

function promiseText({ evidence_kept: kept, evidence_broken: broken }: CalibrationStops): string {
  const scale = `Thresholds are judged in six groups, each stop by its own. Evidence of ${STRONG_EVIDENCE} or more is strong, however often it is read.`;
  if (broken >= STRONG_EVIDENCE)
    return `Evidence that more stops are wrong than promised: ${evidence(broken)}. ${scale}`;
  const tooFew = kept >= STRONG_EVIDENCE ? '' : ' There are too few audits to be sure.';
  return `Evidence that no more stops are wrong than promised: ${evidence(kept)}. ${scale}${tooFew}`;
}

function accuracySection({ accuracy }: PublishedCalibration, window: CountedWindow): Html {
  return html`${accuracy.map(({ judged, right, accounts, share, low, high }) =>
    judged === 0
      ? html`<p>No caller has reported yet whether an outcome of a poll ${windowText(window)} was right.</p>`
      : html`<p>Callers reported for ${whole(judged)} outcomes of their own polls ${windowText(window)} whether they were right: ${whole(right)} were. On average over ${accounts === 1 ? 'the 1 account' : `the ${whole(accounts)} accounts`} that reported, ${percent(share)} (95% interval ${interval({ low, high })}).</p>`,
  )}<p class="muted">Confidence does not mean that an answer is right. It is the probability that asking the remaining models would not change the winner.</p>`;
}

function method(
  { confidence_threshold: threshold, since, audits, drawn, unmade }: PublishedCalibration,
  { config }: Facts,
): Html {
  const makesAudits = audits > 0 || config.audits.rate > 0;
  return html`<ul>
<li>A poll can stop before every model was asked, once its winner is likely enough to stay: ${percent(threshold)}, unless the caller sets another threshold.</li>
<li>${makesAudits ? 'Some polls are' : 'If audits are switched on, some polls are'} drawn at random before they start, at most one for each question of an account. After the answer was delivered, we ask the remaining models and pay for them. The answer does not change.</li>
${
  unmade === 0
    ? ''
    : html`<li>${whole(unmade)} of ${whole(drawn)} drawn polls could not be audited, mostly because audits have a daily budget. Which ones it pays for does not depend on how they ended.</li>
`
}<li>Audits store only numbers, no question and no answer. A keyed hash of the question is kept until its poll is deleted, so that repetitions count once. Deleted polls are never audited.</li>
<li>A poll that ended because no vote could change its winner proves nothing about confidence, and is not counted as a stop here.</li>
<li>Custom panels are not audited: there are too many of them.</li>
<li>If a panel asks its cheapest models first, audits can lower the confidence of later polls in a similar state, but never raise it.${since === null ? '' : ` Figures here begin in ${since}.`}</li>
</ul>`;
}
