import type { Facts } from '../discovery/documents/facts.ts';
import { aboutSeconds, aboutUsd } from '../discovery/documents/poll-figures.ts';
import { notice, table } from './components.ts';
import { type Html, html } from './html.ts';

const PANELS = [
  { name: 'free', who: 'open-weight models' },
  { name: 'fast', who: 'models of low latency' },
  { name: 'broad', who: 'models of many makers' },
  { name: 'strong', who: 'frontier models' },
] as const;

export const panelTable = ({ figures }: Facts): Html => html`${table(
  'Panels',
  html`<tr><th scope="col">Panel</th><th scope="col">Who votes</th><th scope="col" class="number">Models</th><th scope="col" class="number">Usual cost</th><th scope="col" class="number">Median time</th></tr>`,
  PANELS.map(
    ({ name, who }) =>
      html`<tr><th scope="row"><code>${name}</code></th><td>${who}</td><td class="number">${figures[name].models.roster_size}</td><td class="number">${name === 'free' ? '$0' : aboutUsd(figures[name].cost_usd.expected)}</td><td class="number">${aboutSeconds(figures[name].latency_ms.p50)}</td></tr>
`,
  ),
)}
<p class="small muted">For a question of usual length with two options, by list prices. <a href="/api/poll/estimate">Figures of the hour</a></p>`;

export const simulatedNote = ({ panels }: Facts): Html =>
  panels.simulated
    ? notice(
        html`<p><strong>Simulated models vote on this installation.</strong> Every result says so, and its content means nothing.</p>`,
        'warn',
      )
    : html``;

/** Nine models in the order in which they were asked: five votes for one option, one for another, three not needed. */
const SEATS = [...'aaoaaa'].map((vote) => (vote === 'a' ? 'ahead' : 'other')).concat(Array(3).fill('spared'));

/** A poll that stopped early, as a picture: five against one, and three that are left cannot turn that. */
export const earlyStop = (): Html => html`<figure class="early-stop">
<svg width="100%" height="84" role="img" aria-label="Six of nine models voted: five for one option, one for another. Three were not asked.">
${SEATS.map((kind, i) => html`<circle class="${kind}" cx="${(5.5 + i * 11.1).toFixed(1)}%" cy="28" r="13"/>`)}
<line x1="66.5%" x2="66.5%" y1="4" y2="60"/>
<text y="80">5 against 1: locked</text>
<text class="saved" x="100%" y="80" text-anchor="end">3 saved</text>
</svg>
</figure>`;
