import type { BatchModel, BatchReportPanel } from '@eloquentpoll/contracts';
import { table } from '../../components.ts';
import { percent, whole } from '../../figures.ts';
import { type Html, html } from '../../html.ts';
import { measured, perRight, signedPoints } from './measured.ts';

export function modelTable({ models, polls }: BatchReportPanel): Html {
  const isPart = models.some(({ asked }) => asked < polls);
  return html`${
    isPart
      ? html`<p>A model is not asked in every poll, and more often in hard ones, because easy polls stop early. So compare it with the panel on the same polls, not with other models.</p>`
      : ''
  }${table(
    'Each model alone',
    html`<tr><th scope="col">Model</th><th scope="col" class="number">Asked in</th><th scope="col" class="number">Right</th><th scope="col" class="number">Panel on the same polls</th><th scope="col" class="number">Difference</th><th scope="col" class="number">Cost per right answer</th><th scope="col" class="number">Agrees with the panel</th></tr>`,
    models.map(row),
  )}`;
}

const row = ({
  model_id,
  asked,
  accuracy,
  panel_accuracy,
  difference,
  agreement,
  cost_per_right_usd,
}: BatchModel): Html =>
  html`<tr><th scope="row" class="mono">${model_id}</th><td class="number">${whole(asked)}</td><td class="number">${measured(accuracy)}</td><td class="number">${percent(panel_accuracy.share, 1)}</td><td class="number">${signedPoints(difference.mean)}<span class="muted small under">${signedPoints(difference.low)} to ${signedPoints(difference.high)}</span></td><td class="number">${perRight(cost_per_right_usd)}</td><td class="number">${measured(agreement, 0)}</td></tr>
`;
