import { LIMITS, PRESETS, type Preset, type ServiceTier } from '@eloquentpoll/contracts';
import { pricePpmOf } from '../config/list-prices.ts';
import type { Facts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { notice, table } from './components.ts';
import { percent, seconds, usd, whole } from './figures.ts';
import { select } from './form-parts.ts';
import { holdBackSentence } from './hold-back-sentence.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { PANEL_TEXTS } from './panels.ts';
import { perThousand, priceAxis, priceLine, priceScale } from './price-chart.ts';
import {
  OPTION_COUNTS,
  type PollPrice,
  type PricedPreset,
  type PriceQuestion,
  THRESHOLD_STEPS,
  type VotePrice,
} from './price-list.ts';

// /pricing: what polls cost, computed from panels and list prices by the same forecast as the API.

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
      'You pay for the votes that were cast, at list prices. What 1,000 polls cost by panel, and what stopping early saves.',
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog'],
    main: html`<h1>Pricing</h1>
<p class="lead">You pay for the votes that were cast, each at our list price for its model. A poll stops once its result is final or likely
enough to stay, so it typically costs less than asking every model, and never more than the limit that you set.</p>
${facts.panels.simulated ? notice(html`<p>These models are simulated, and their prices are made up.</p>`, 'warn') : ''}
<p>${runsFreePolls(facts) ? FREE_POLLS : ''}No subscription. A card payment is at least $${LIMITS.checkout_cents.min / 100}.</p>
<h2 id="presets">1,000 polls, by panel</h2>
<p class="key small"><span><span class="swatch expected"></span>expected, stopping early</span> <span><span class="swatch whole"></span>every model asked</span></p>
${thousandTable(list, asked.options)}
<p class="muted small">Typical questions with ${asked.options} options, at a confidence threshold of ${asked.threshold}. The scale is logarithmic: each line is ten
times the one before it. Times and failure rates come from recent polls. Same figures by API: <a href="/api/poll/estimate">/api/poll/estimate</a></p>
<h2 id="one">Calculator</h2>
${questionForm(asked)}
${worked(asked, price, votes)}
<h2 id="table">One poll, by number of options</h2>
${priceTable(list)}
<p>${margins(facts)}</p>
${fineprint(facts)}`,
  });
}

const FREE_POLLS = 'Quick polls without an account are free and need no card: open-weight models vote, and we pay. ';

/** The margin that list prices include, by preset and for custom panels. */
function margins({ config }: Facts): Html {
  const margins = (service_tier: ServiceTier) => {
    const marginOf = (panel_name: Preset | 'custom') =>
      percent(pricePpmOf(config, { panel_name, service_tier }) / 1_000_000 - 1);
    const ofPresets = PRESETS.map((preset) => html`${marginOf(preset)} in <code>${preset}</code> polls, `);
    return html`${ofPresets}${marginOf('custom')} in polls with <code>models</code> or a saved <code>panel</code>`;
  };
  return html`List prices are what the providers charge and a margin: ${margins('standard')}. It pays for calls that were under way when a poll
stopped, which providers charge and you are not billed, and for the fees of payments. Polls with <code>service_tier: "flex"</code>, as those of batches, are run when no other poll waits and end within
24 hours; nothing is under way when they stop, and the margin is ${margins('flex')}.`;
}

function thousandTable(list: Pricing['list'], options: number): Html {
  const prices = PRESETS.map((preset) => ({ preset, price: list.get(preset)![options - LIMITS.options.min]! }));
  const scale = priceScale(prices.map(({ price }) => price));
  return table(
    'Cost of 1,000 polls',
    html`<tr><th scope="col">Panel</th><th scope="col" class="number">Expected</th><th scope="col" class="number">Every model</th><th scope="col" class="price-scale wide-only">${priceAxis(scale)}<span class="hidden-text">On one scale</span></th><th scope="col" class="number">Saved</th><th scope="col" class="number wide-only">Median time</th></tr>`,
    prices.map(({ preset, price }) => {
      const { who } = PANEL_TEXTS.find(({ name }) => name === preset)!;
      const { estimate, wholeUsd, saving } = price;
      return html`<tr><th scope="row"><code>${preset}</code><br><span class="muted small">${estimate.models.roster_size} ${lowerFirst(who)}</span></th><td class="number">${usd(perThousand(estimate.cost_usd.expected))}</td><td class="number">${usd(perThousand(wholeUsd))}</td><td class="wide-only">${priceLine(preset, price, scale)}</td><td class="number">${percent(saving)}</td><td class="number wide-only">${seconds(estimate.latency_ms.p50)}</td></tr>
`;
    }),
  );
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

function questionForm({ preset, options, threshold }: PriceQuestion): Html {
  const choices = (values: readonly (string | number)[]) =>
    values.map((value) => ({ value: String(value), label: String(value) }));
  return html`<form class="filters" action="/pricing#one">
${select('preset', 'Panel', choices(PRESETS), preset)}
${select('options', 'Options', choices(OPTION_COUNTS), String(options))}
<p class="field"><label for="confidence_threshold">Confidence threshold</label>
<input id="confidence_threshold" name="confidence_threshold" type="number" min="0" max="1" step="${1 / THRESHOLD_STEPS}" value="${threshold}"></p>
<button class="button">Calculate</button>
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
<p>A <code>${preset}</code> poll with ${options} options asks between ${models.min_calls} and ${models.max_calls} models. Up to ${usd(cost_usd.max)} is
reserved (the worst case of its whole panel); the rest is returned.</p>
${table(
  `Votes of a ${preset} poll`,
  html`<tr><th scope="col">Model</th><th scope="col" class="number wide-only">Input $/M</th><th scope="col" class="number wide-only">Output $/M</th><th scope="col" class="number">Typical vote</th><th scope="col" class="number">Maximum</th></tr>`,
  [...votes.map(voteRow), sumRow(votes)],
)}
`;
}

const stat = (label: string, value: string): Html =>
  html`<div class="stat"><dt>${label}</dt><dd>${value}</dd></div>
`;

const voteRow = ({ modelId, input, output, typicalU, maxU }: VotePrice): Html =>
  html`<tr><th scope="row" class="model mono">${modelId}</th><td class="number wide-only">${micro(input)}</td><td class="number wide-only">${micro(output)}</td><td class="number">${micro(typicalU)}</td><td class="number">${micro(maxU)}</td></tr>
`;

function sumRow(votes: readonly VotePrice[]): Html {
  const sum = (of: (vote: VotePrice) => bigint) => micro(votes.reduce((total, vote) => total + of(vote), 0n));
  return html`<tr><th scope="row">All ${votes.length}</th><td class="wide-only"></td><td class="wide-only"></td><td class="number">${sum(({ typicalU }) => typicalU)}</td><td class="number">${sum(({ maxU }) => maxU)}</td></tr>
`;
}

const micro = (amountU: bigint): string => usd(Number(amountU) / 1_000_000);

const priceTable = (list: Pricing['list']): Html =>
  table(
    'Prices by panel and number of options',
    html`<tr><th scope="col">Options</th>${PRESETS.map((preset) => html`<th scope="col" class="number">${preset}<span class="wide-only">: expected</span></th><th scope="col" class="number wide-only">all models</th><th scope="col" class="number wide-only">saved</th>`)}</tr>`,
    OPTION_COUNTS.map(
      (options, i) => html`<tr><th scope="row">${whole(options)}</th>${PRESETS.map((preset) => {
        const { estimate, wholeUsd, saving } = list.get(preset)![i]!;
        return html`<td class="number">${usd(estimate.cost_usd.expected)}</td><td class="number wide-only">${usd(wholeUsd)}</td><td class="number wide-only">${percent(saving)}</td>`;
      })}</tr>
`,
    ),
  );

const fineprint = ({ config }: Facts): Html => html`<h2 id="rules">Guarantees</h2>
<ul class="prose">
<li><code>max_cost_usd</code> is a hard limit ($${LIMITS.max_cost_usd.default} by default).</li>
<li>A model that fails costs nothing, and neither does a poll in which none voted. The exception is questions that make models
fail: refusals, unusable answers and repeated timeouts of a model that answers other callers are free up to an allowance per account and day,
and cost what the provider may have charged beyond it. The same holds for calls under way when you cancel a poll.
<code>costs.failed_calls_cost</code> then says how much that was.</li>
<li>If the result is decided while a model is still answering, that vote is free.</li>
<li>Credit does not expire. It is bought by card or in USDC, on the <a href="/dashboard#funds">dashboard</a>.${config.checkout ? ` By card: ${holdBackSentence(config.cardHoldBack)}` : ''}</li>
</ul>`;
