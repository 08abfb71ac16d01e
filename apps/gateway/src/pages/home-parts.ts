import type { Facts } from '../discovery/documents/facts.ts';
import { aboutSeconds, aboutUsd } from '../discovery/documents/poll-figures.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { notice, table } from './components.ts';
import { type Html, html } from './html.ts';

const PANELS = [
  { name: 'free', who: 'open-weight models' },
  { name: 'fast', who: 'low-latency models' },
  { name: 'broad', who: 'models from many vendors' },
  { name: 'strong', who: 'frontier models' },
] as const;

export const panelTable = (facts: Facts): Html => html`${table(
  'Panels',
  html`<tr><th scope="col">Panel</th><th scope="col" class="wide-only">Who votes</th><th scope="col" class="number wide-only">Models</th><th scope="col" class="number">Typical cost</th><th scope="col" class="number">Median time</th></tr>`,
  PANELS.filter(({ name }) => name !== 'free' || runsFreePolls(facts)).map(({ name, who }) => {
    const { models, cost_usd, latency_ms } = facts.figures[name];
    return html`<tr><th scope="row"><code>${name}</code><span class="narrow-only small muted">${models.roster_size} ${who}</span></th><td class="wide-only">${who}</td><td class="number wide-only">${models.roster_size}</td><td class="number">${name === 'free' ? '$0' : aboutUsd(cost_usd.expected)}</td><td class="number">${aboutSeconds(latency_ms.p50)}</td></tr>
`;
  }),
)}
<p class="small muted">Typical question, two options, list prices. <a href="/api/poll/estimate">Current figures</a></p>`;

export const simulatedNote = ({ panels }: Facts): Html =>
  panels.simulated
    ? notice(
        html`<p><strong>Demo mode: these models are simulated.</strong> Results are marked, and the answers are not real.</p>`,
        'warn',
      )
    : html``;

/** One circle per model of a panel: `a` for the leader, `o` for another option, `-` for a model that was not needed. */
const seats = (votes: string, radius: number, gap: number): Html =>
  html`${[...votes].map((vote, i) => html`<circle class="${SEAT_CLASSES[vote]!}" cx="${(gap / 2 + i * gap).toFixed(1)}%" cy="${radius + 2}" r="${radius}"/>`)}`;

const SEAT_CLASSES: Record<string, string> = { a: 'ahead', o: 'other', '-': 'spared' };

/** A picture of a poll that stopped early: five votes against one, and the three missing ones cannot change that. */
export const earlyStop = (): Html => html`<figure class="early-stop">
<svg width="100%" height="68" role="img" aria-label="Six of nine models voted: five for one option, one for another. Three were not asked.">
${seats('aaoaaa---', 12, 11.1)}
<line x1="66.5%" x2="66.5%" y1="2" y2="46"/>
<text y="64">5 to 1: decided</text>
<text class="saved" x="100%" y="64" text-anchor="end">3 models not needed</text>
</svg>
</figure>`;

/** Sample results: invented, and the same on every installation. */
const SAMPLES = [
  {
    kind: 'Clear',
    votes: 'aaaaa----',
    headline: 'Postgres, 5 of 5',
    meaning: 'Four more models could not change the winner.',
  },
  {
    kind: 'Split',
    votes: 'aoaoaoaoa',
    headline: 'SQLite, narrowly: 5 of 9',
    meaning: 'One switched vote would change the winner.',
  },
  {
    kind: 'Tie',
    votes: 'aoaoaoao',
    headline: 'A tie: Lisbon and Remote',
    meaning: 'Four votes each. Ask two more models, or rephrase.',
  },
];

export const sampleResults = (): Html => html`<div class="grid small-cells samples">
${SAMPLES.map(
  ({ kind, votes, headline, meaning }) => html`<section class="card">
<p class="eyebrow">${kind}</p>
<h3>${headline}</h3>
<svg width="100%" height="20" aria-hidden="true">${seats(votes, 7, 11.1)}</svg>
<p class="muted small">${meaning}</p>
</section>
`,
)}</div>
<p class="small muted">Illustrations, not real polls.</p>`;
