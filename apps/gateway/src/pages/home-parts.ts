import type { Facts } from '../documents/facts.ts';
import { aboutSeconds, aboutUsd } from '../documents/poll-figures.ts';
import { type Html, html } from './html.ts';

const ROSTERS = [
  { name: 'free', who: 'open-weight models' },
  { name: 'fast', who: 'models of low latency' },
  { name: 'broad', who: 'models of many makers' },
  { name: 'strong', who: 'frontier models' },
] as const;

export const rosterTable = ({
  figures,
}: Facts): Html => html`<div class="scroll" tabindex="0" role="region" aria-label="Rosters">
<table>
<thead><tr><th scope="col">Roster</th><th scope="col">Who votes</th><th scope="col">Models</th><th scope="col">Usual cost</th><th scope="col">Median time</th></tr></thead>
<tbody>
${ROSTERS.map(
  ({ name, who }) =>
    html`<tr><th scope="row"><code>${name}</code></th><td>${who}</td><td>${figures[name].models.roster_size}</td><td>${name === 'free' ? '$0' : aboutUsd(figures[name].cost_usd.expected)}</td><td>${aboutSeconds(figures[name].latency_ms.p50)}</td></tr>
`,
)}</tbody>
</table>
</div>
<p>For a question of usual length with two options, by list prices. <a href="/api/poll/estimate">Figures of the hour</a></p>`;

export const simulatedNote = ({ rosters }: Facts): Html =>
  rosters.simulated
    ? html`<p><strong>Simulated models vote on this installation.</strong> Every result says so, and its content means nothing.</p>`
    : html``;

/** Code that scrolls by keyboard too. */
export const code = (text: string, label: string): Html =>
  html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;
