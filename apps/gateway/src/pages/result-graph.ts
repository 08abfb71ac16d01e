import type { ResultDetail } from '@eloquentpoll/contracts';
import { type Html, html } from './html.ts';

// Who voted for what, as a drawing of the same graph that GET /api/graph/mermaid answers as text: models on the left,
// options on the right, the winner marked. Each label is cut by the box around it, so that no text reaches out of it.

const LEFT = { x: 1, width: 268 };
const RIGHT = { x: 470, width: 288 };
const WIDTH = RIGHT.x + RIGHT.width + 1;
const BOX = 34;
const STEP = 44;
const LONGEST = 40;

interface Node {
  label: string;
  note: string;
  kind: string;
}

export function resultGraph({ votes, options, tally, winning_option }: ResultDetail): Html {
  const models = votes.map(({ model_id }): Node => ({ label: model_id, note: '', kind: 'model' }));
  const targets = options.map(
    (option): Node => ({
      label: option,
      note: String(countOf(tally, option)),
      kind: option === winning_option ? 'option wins' : 'option',
    }),
  );
  const failed = votes.filter(({ chosen_option }) => chosen_option === null).length;
  if (failed > 0) targets.push({ label: 'No vote', note: String(failed), kind: 'none' });
  const rows = Math.max(models.length, targets.length, 1);
  const height = rows * STEP - (STEP - BOX) + 2;
  const [leftAt, rightAt] = [placing(models.length, height), placing(targets.length, height)];

  return html`<div class="scroll" tabindex="0" role="region" aria-label="Who voted for what">
<svg class="graph" width="${WIDTH}" height="${height}" role="img" aria-label="${votes.length} models on the left, lines to the options that they voted for on the right">
${votes.map(({ chosen_option }, i) => {
  const target = chosen_option === null ? options.length : options.indexOf(chosen_option);
  const kind = chosen_option === null ? 'none' : chosen_option === winning_option ? 'wins' : '';
  return edge(leftAt(i) + BOX / 2, rightAt(Math.max(0, target)) + BOX / 2, kind);
})}
${models.map((node, i) => box(node, LEFT, leftAt(i)))}
${targets.map((node, i) => box(node, RIGHT, rightAt(i)))}
</svg>
</div>`;
}

/** Evenly over the height, in the middle when there are few. */
const placing = (count: number, height: number) => (i: number) =>
  (height - 2 - BOX - (count - 1) * STEP) / 2 + 1 + i * STEP;

function edge(from: number, to: number, kind: string): Html {
  const [start, end] = [LEFT.x + LEFT.width, RIGHT.x];
  const middle = (start + end) / 2;
  return html`<path class="edge ${kind}" d="M${start} ${from}C${middle} ${from} ${middle} ${to} ${end} ${to}"/>`;
}

const box = ({ label, note, kind }: Node, { x, width }: typeof LEFT, y: number): Html =>
  html`<g class="${kind}"><rect x="${x}" y="${y}" width="${width}" height="${BOX}" rx="7"/>
<svg x="${x}" y="${y}" width="${width - (note === '' ? 10 : 44)}" height="${BOX}"><text x="12" y="22">${shortened(label)}</text></svg>
${note === '' ? '' : html`<text class="note" x="${x + width - 12}" y="${y + 22}" text-anchor="end">${note}</text>`}</g>
`;

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

/** An option may be named like a member of every object. */
export const countOf = (tally: Record<string, number>, option: string): number =>
  Object.hasOwn(tally, option) ? (tally[option] ?? 0) : 0;
