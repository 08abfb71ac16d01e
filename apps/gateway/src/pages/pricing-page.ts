import { LIMITS, PRESETS } from '@eloquentpoll/contracts';
import type { Facts } from '../discovery/documents/facts.ts';
import { notice, table } from './components.ts';
import { percent, perMillion, seconds, usd, whole } from './figures.ts';
import { select } from './form-parts.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { PANEL_TEXTS } from './panels.ts';
import { priceChart } from './price-chart.ts';
import {
  OPTION_COUNTS,
  type PollPrice,
  type PricedPreset,
  type PriceQuestion,
  THRESHOLD_STEPS,
  type VotePrice,
} from './price-list.ts';

// /pricing: what polls cost, worked from panels and list prices by the forecast that the API answers with.

export interface Pricing {
  /** For each preset and number of options, at the requested threshold. */
  list: ReadonlyMap<PricedPreset, readonly PollPrice[]>;
  asked: PriceQuestion;
  votes: readonly VotePrice[];
}

export function pricingPage(facts: Facts, { list, asked, votes }: Pricing): string {
  const price = list.get(asked.preset)![asked.options - LIMITS.options.min]!;
  return layout({
    baseUrl: facts.baseUrl,
    path: '/pricing',
    title: 'Pricing: what a poll costs · EloquentPoll',
    description:
      'You pay for the votes that were cast, at list prices. What a poll costs by preset and number of options, and what stopping early saves.',
    styles: ['catalog'],
    main: html`<h1>Pricing</h1>
<p class="lead">You pay for the votes that were cast, each at our list price for its model. A poll stops as soon as its outcome is
locked or certain enough, so it usually costs less than asking everybody, and never more than the limit that you set.</p>
${facts.panels.simulated ? notice(html`<p>These models are simulated, and their prices are made up.</p>`, 'warn') : ''}
<p>${margins(facts)}</p>
<p>Quick polls without an account are free: open-weight models vote, and we pay. No card, no subscription, no minimum but the
${LIMITS.checkout_cents.min / 100} dollar that a card payment starts at.</p>
<h2 id="presets">By preset</h2>
<p class="key small"><span><span class="swatch whole"></span>every model asked</span> <span><span class="swatch expected"></span>expected, stopping early</span></p>
<div class="grid">
${PRESETS.map((preset) => presetCard(preset, list.get(preset)!, asked.options))}</div>
<h2 id="one">One poll, worked out</h2>
${questionForm(asked)}
${worked(asked, price, votes)}
<h2 id="table">Every number of options</h2>
${priceTable(list)}
<p class="muted small">For a question of usual length, at a confidence threshold of ${asked.threshold}. Latencies and failure rates
are those of recent polls where there were any. Programs ask <a href="/api/poll/estimate">/api/poll/estimate</a>, which answers with the same
figures.</p>
${fineprint}`,
  });
}

/** What list prices carry, by preset. */
function margins({ config: { pricePpm } }: Facts): Html {
  const margin = (preset: PricedPreset) => percent(pricePpm[preset] / 1_000_000 - 1);
  return html`List prices are what the providers charge and a margin: ${PRESETS.map((preset, i) => html`${i > 0 ? ', ' : ''}${margin(preset)} in <code>${preset}</code> polls`)}. It pays for calls that were under way when a poll
stopped, which providers charge and you are not billed, and for the fees of payments.`;
}

function presetCard(preset: PricedPreset, prices: readonly PollPrice[], options: number): Html {
  const { estimate, saving } = prices[options - LIMITS.options.min]!;
  const { who } = PANEL_TEXTS.find(({ name }) => name === preset)!;
  return html`<section class="card stack">
<h3><code>${preset}</code></h3>
<p class="muted">${who}</p>
<p class="stat"><span class="value">${usd(estimate.cost_usd.expected)}</span> <span class="muted">expected with ${options} options</span></p>
<p>${percent(saving)} less than asking all ${estimate.models.roster_size}, half of the time within ${seconds(estimate.latency_ms.p50)}.</p>
${priceChart(preset, prices)}
<p class="muted small center">by number of options</p>
</section>
`;
}

function questionForm({ preset, options, threshold }: PriceQuestion): Html {
  const choices = (values: readonly (string | number)[]) =>
    values.map((value) => ({ value: String(value), label: String(value) }));
  return html`<form class="filters" action="/pricing#one">
${select('preset', 'Preset', choices(PRESETS), preset)}
${select('options', 'Options', choices(OPTION_COUNTS), String(options))}
<p class="field"><label for="confidence_threshold">Confidence threshold</label>
<input id="confidence_threshold" name="confidence_threshold" type="number" min="0" max="1" step="${1 / THRESHOLD_STEPS}" value="${threshold}"></p>
<button class="button">Work it out</button>
</form>
`;
}

function worked({ preset, options }: PriceQuestion, price: PollPrice, votes: readonly VotePrice[]): Html {
  const { models, cost_usd, latency_ms, early_termination: stop } = price.estimate;
  return html`<dl class="grid stats">
${stat('Expected cost', usd(cost_usd.expected))}
${stat('Every model asked', usd(price.wholeUsd))}
${stat('Expected saving', percent(price.saving))}
${stat('Models asked', `${models.expected_calls.toFixed(1)} of ${models.roster_size}`)}
${stat('Stops early', percent(stop.probability))}
${stat('Time, median', seconds(latency_ms.p50))}
</dl>
<p>A <code>${preset}</code> poll with ${options} options asks between ${models.min_calls} and ${models.max_calls} models. It sets aside
at most ${usd(cost_usd.max)}, the worst case of its whole panel, and gives back what was not used.</p>
${table(
  `Votes of a ${preset} poll`,
  html`<tr><th scope="col">Model</th><th scope="col" class="number">In, per M tokens</th><th scope="col" class="number">Out, per M tokens</th><th scope="col" class="number">A usual vote</th><th scope="col" class="number">At most</th></tr>`,
  [...votes.map(voteRow), sumRow(votes)],
)}
`;
}

const stat = (label: string, value: string): Html =>
  html`<div class="stat"><dt>${label}</dt><dd>${value}</dd></div>
`;

const voteRow = ({ modelId, input, output, typicalU, maxU }: VotePrice): Html =>
  html`<tr><th scope="row" class="model mono">${modelId}</th><td class="number">${perMillion(input)}</td><td class="number">${perMillion(output)}</td><td class="number">${micro(typicalU)}</td><td class="number">${micro(maxU)}</td></tr>
`;

function sumRow(votes: readonly VotePrice[]): Html {
  const sum = (of: (vote: VotePrice) => bigint) => micro(votes.reduce((total, vote) => total + of(vote), 0n));
  return html`<tr><th scope="row">All ${votes.length}</th><td></td><td></td><td class="number">${sum(({ typicalU }) => typicalU)}</td><td class="number">${sum(({ maxU }) => maxU)}</td></tr>
`;
}

const micro = (amountU: bigint): string => usd(Number(amountU) / 1_000_000);

const priceTable = (list: Pricing['list']): Html =>
  table(
    'Prices by preset and number of options',
    html`<tr><th scope="col">Options</th>${PRESETS.map((preset) => html`<th scope="col" class="number">${preset}: expected</th><th scope="col" class="number">all models</th><th scope="col" class="number">saved</th>`)}</tr>`,
    OPTION_COUNTS.map(
      (options, i) => html`<tr><th scope="row">${whole(options)}</th>${PRESETS.map((preset) => {
        const { estimate, wholeUsd, saving } = list.get(preset)![i]!;
        return html`<td class="number">${usd(estimate.cost_usd.expected)}</td><td class="number">${usd(wholeUsd)}</td><td class="number">${percent(saving)}</td>`;
      })}</tr>
`,
    ),
  );

const fineprint = html`<h2 id="rules">What holds for every poll</h2>
<ul class="prose">
<li><code>max_cost_usd</code> is a promise: no poll costs more, and ${LIMITS.max_cost_usd.default} dollar is what it is unless you say otherwise.</li>
<li>A model that fails costs nothing, and neither does a poll in which none voted. The exception is questions that make models
fail: refusals and unusable answers are free up to an allowance per account and day, and cost what the provider charged beyond it.
<code>costs.failed_calls_cost</code> then says how much that was.</li>
<li>Models that were asked and then not needed any more cost you nothing.</li>
<li>Credit does not expire. It is bought by card or in USDC, on the <a href="/dashboard#funds">dashboard</a>.</li>
</ul>`;
