import { LIMITS, PRESETS } from '@eloquentpoll/contracts';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { FilledPoll } from '../ask-again.ts';
import { namedModelsLabel, SAVED } from '../browser/panel-choice.ts';
import { type Choice, extraBoxes, select } from '../form-parts.ts';
import { type Html, html } from '../html.ts';
import type { AccountView } from './account.ts';

const SHORT = { broad: 'many vendors', fast: 'low latency', strong: 'frontier models' } as const;

const EMPTY: FilledPoll = {
  question: '',
  options: [],
  choice: 'broad',
  threshold: LIMITS.confidence_threshold.default,
  limitUsd: LIMITS.max_cost_usd.default,
  search: false,
  reasons: false,
};

/** Presets, saved panels, and the models of the poll that is asked again. */
function panelChoices({ panels: saved }: Pick<AccountView, 'panels'>, { choice }: FilledPoll): Choice[] {
  const named = namedModelsLabel(choice);
  return [
    ...PRESETS.map((preset) => ({ value: preset, label: `${preset}: ${SHORT[preset]}` })),
    ...saved.map(({ name, models }) => ({ value: `${SAVED}${name}`, label: `${name}: your ${models.length} models` })),
    ...(named === null ? [] : [{ value: choice, label: named }]),
  ];
}

/** The form of a paid poll: shows an estimate while it is edited, and progress while the poll runs. */
export function runPollCard(
  { panels }: Facts,
  account: Pick<AccountView, 'panels'>,
  filled: FilledPoll | null = null,
): Html {
  const { question, options, choice, threshold, limitUsd } = filled ?? EMPTY;
  const choices = panelChoices(account, filled ?? EMPTY);
  const chosen = choices.some(({ value }) => value === choice) ? choice : EMPTY.choice;
  return html`<section class="card stack" id="run" aria-labelledby="run-title">
<h2 id="run-title">Run a poll</h2>
<form class="stack" data-run novalidate${filled ? html` data-filled` : ''}>
<p class="field"><label for="question">Question</label>
<textarea id="question" name="question" rows="2" required minlength="${LIMITS.question.min}" placeholder="Which of these would you choose, and for whom?">${question}</textarea></p>
<p class="field"><label for="options">Options, one per line</label>
<textarea id="options" name="options" rows="3" required aria-describedby="options-hint">${options.join('\n')}</textarea>
<span class="hint" id="options-hint">${LIMITS.options.min} to ${LIMITS.options.max}, each at most ${LIMITS.options.length} characters</span></p>
<div class="terms">
${select('preset', 'Panel', choices, chosen)}
<p class="field"><label for="threshold">Confidence threshold</label>
<input id="threshold" name="confidence_threshold" type="number" min="0" max="1" step="0.01" value="${threshold}" required aria-describedby="threshold-hint">
<span class="hint" id="threshold-hint">0 to 1: the poll stops once the leader is this likely to stay; with 1, once it is final.</span></p>
<p class="field"><label for="most">Cost limit ($)</label>
<input id="most" name="max_cost_usd" type="number" min="0.0001" max="${LIMITS.max_cost_usd.max}" step="any" value="${limitUsd}" required aria-describedby="most-hint">
<span class="hint" id="most-hint">The poll never costs more.</span></p>
</div>
${extraBoxes(filled ?? EMPTY)}<p class="hint"><a href="/models#panels">Compare panels</a> · <a href="/pricing">Pricing</a></p>
<div class="estimate small" data-estimate aria-live="polite"><p class="muted">Enter a question and two options for an estimate.</p></div>
<p><button class="button" data-needs-script disabled>Run poll</button></p>
</form>
<div class="live-poll" data-progress tabindex="-1" hidden></div>
${panels.simulated ? html`<p class="muted small">These models are simulated and their prices invented; your balance is charged as if they were real.</p>` : ''}
</section>
`;
}
