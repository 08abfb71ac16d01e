import { type CalibrationAgreement, ROSTER_PANELS } from '@eloquentpoll/contracts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { table } from '../components.ts';
import { percent, whole } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { modelPath } from '../model-anchor.ts';
import { panelTitle } from '../panels.ts';

// How often the models of each panel agree with each other: a sentence and a matrix per panel.

export function agreementSection(agreement: CalibrationAgreement | null, { panels }: Facts): Html {
  if (agreement === null || agreement.panels.every(({ effective_votes }) => effective_votes === null))
    return html`<p>Not known yet: each pair of models of a panel must have voted together in 100 audited polls.</p>`;
  return html`<p>Models that always agree are worth only one vote. Agreement is corrected for chance: 0% is as often as by guessing, 100% is always. From ${whole(agreement.audits)} audited polls, ${agreement.learned_on}.</p>
${ROSTER_PANELS.map((name) => {
  const ids = panels.panel(name).models.map(({ id }) => id);
  const votes = agreement.panels.find(({ preset }) => preset === name)?.effective_votes ?? null;
  const title = `${panelTitle(name)}: ${ids.length} models`;
  return votes === null
    ? html`<p><strong>${title}</strong>: its models have not voted together often enough yet.</p>
`
    : html`<details class="alike"${name === 'broad' ? html` open` : ''}><summary><strong>${title} that count like ${votes}</strong></summary>
${matrix(title, ids, agreement)}</details>
`;
})}`;
}

function matrix(title: string, ids: readonly string[], { models, matrix }: CalibrationAgreement): Html {
  const places = ids.map((id) => models.indexOf(id));
  const agreed = (a: number, b: number) => matrix[places[a]!]?.[places[b]!] ?? null;
  return table(
    `Agreement in ${title}`,
    html`<tr><th scope="col">Model</th>${ids.map((id, i) => html`<th scope="col" class="cell"><abbr title="${id}">${i + 1}</abbr></th>`)}</tr>`,
    ids.map(
      (
        id,
        a,
      ) => html`<tr><th scope="row" class="model">${a + 1} <a class="plain-link mono small" href="${modelPath(id)}">${id}</a></th>${ids.map((_, b) => cell(a === b ? undefined : agreed(a, b)))}</tr>
`,
    ),
  );
}

const cell = (value: number | null | undefined): Html =>
  value === undefined
    ? html`<td class="cell self"><span class="hidden-text">itself</span></td>`
    : html`<td class="cell heat-${value === null ? 'none' : Math.max(0, Math.min(4, Math.floor(5 * value)))}">${percent(value)}</td>`;
