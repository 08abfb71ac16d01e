import type { ResultDetail } from '@eloquentpoll/contracts';
import { colourClasses } from './browser/poll-picture.ts';
import { type Html, html } from './html.ts';
import { pictureOf } from './result-picture.ts';

/**
 * The models' reasons, if the poll asked for them: collapsed, with those for one option beside those for the others.
 */
export function reasonsSection(result: ResultDetail): Html {
  const { options, votes } = result;
  const picture = pictureOf(result);
  const colours = colourClasses(picture);
  const given = votes.flatMap(({ model_id, chosen_option, reason }) =>
    reason && chosen_option !== null ? [{ model: model_id, option: options.indexOf(chosen_option), reason }] : [],
  );
  if (given.length === 0) return html``;
  const groups = [...options.keys()]
    .toSorted((a, b) => picture.tally[b]! - picture.tally[a]!)
    .map((option) => ({ option, reasons: given.filter((each) => each.option === option) }))
    .filter(({ reasons }) => reasons.length > 0);
  return html`<details class="reasons"><summary>Why: ${given.length} ${given.length === 1 ? 'reason' : 'reasons'} by the models</summary>
<p class="hint">Written by the models, and not checked.</p>
<div class="grid small-cells">
${groups.map(
  ({
    option,
    reasons,
  }) => html`<section class="${colours[option]!}"><h3><span class="dot"></span>For <bdi>${options[option]!}</bdi></h3>
<ul class="plain">
${reasons.map(
  ({
    model,
    reason,
  }) => html`<li><q class="reason" dir="auto">${reason}</q><br><span class="muted small">${model}</span></li>
`,
)}</ul></section>
`,
)}</div></details>`;
}
