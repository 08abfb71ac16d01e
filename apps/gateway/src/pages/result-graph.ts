import type { ResultDetail } from '@eloquentpoll/contracts';
import { type Html, html } from './html.ts';
import { countOf } from './result-picture.ts';

// Who voted for what: the graph of GET /api/graph/mermaid as a drawing. Models are on the left, options on the right,
// the winner is marked. Each label is clipped by its box.

/** In percent, so that it fits any width. */
const LEFT = { x: 0.2, width: 38 };
const RIGHT = { x: 61.8, width: 38 };
const BETWEEN = { x: LEFT.x + LEFT.width, width: RIGHT.x - LEFT.x - LEFT.width };
const BOX = 34;
const STEP = 44;
const MAX_LABEL_LENGTH = 40;

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

  return html`<svg class="graph" width="100%" height="${height}" role="img" aria-label="${votes.length} models on the left, lines to the options that they voted for on the right">
<svg x="${BETWEEN.x}%" width="${BETWEEN.width.toFixed(1)}%" height="${height}" viewBox="0 0 100 ${height}" preserveAspectRatio="none">${votes.map(
    ({ chosen_option }, i) => {
      const target = chosen_option === null ? options.length : options.indexOf(chosen_option);
      const kind = chosen_option === null ? 'none' : chosen_option === winning_option ? 'wins' : '';
      return edge(leftAt(i) + BOX / 2, rightAt(Math.max(0, target)) + BOX / 2, kind);
    },
  )}</svg>
${models.map((node, i) => box(node, LEFT, leftAt(i)))}
${targets.map((node, i) => box(node, RIGHT, rightAt(i)))}
</svg>`;
}

/** Spread evenly over the height; centred if there are few. */
const placing = (count: number, height: number) => (i: number) =>
  (height - 2 - BOX - (count - 1) * STEP) / 2 + 1 + i * STEP;

const edge = (from: number, to: number, kind: string): Html =>
  html`<path class="edge ${kind}" d="M0 ${from}C50 ${from} 50 ${to} 100 ${to}" vector-effect="non-scaling-stroke"/>`;

const box = ({ label, note, kind }: Node, { x, width }: typeof LEFT, y: number): Html =>
  html`<svg class="${kind}" x="${x}%" y="${y}" width="${width}%" height="${BOX}"><rect x="1" y="1" width="99%" height="${BOX - 2}" rx="7"/>
<svg width="${note === '' ? '97%' : '80%'}" height="${BOX}"><text x="12" y="22">${shortened(label)}</text></svg>
${note === '' ? '' : html`<text class="note" x="96%" y="22" text-anchor="end">${note}</text>`}</svg>
`;

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= MAX_LABEL_LENGTH ? text : `${characters.slice(0, MAX_LABEL_LENGTH - 1).join('')}…`;
}
