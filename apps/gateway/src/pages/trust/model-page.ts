import type { CalibrationAgreement, ModelReputation } from '@eloquentpoll/contracts';
import { shareInterval, type TestKind } from '@eloquentpoll/evidence';
import type { ModelStanding } from '@eloquentpoll/storage';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { CountedWindow } from '../../discovery/reputations.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { notice, table } from '../components.ts';
import { percent, perMillion, seconds, usd, whole, windowText } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';
import { modelPath } from '../model-anchor.ts';
import type { ListedModel } from '../models-filter.ts';
import { FAILED_TESTS } from '../models-page.ts';
import { panelTitle } from '../panels.ts';
import { priceAgreementPlot } from './price-agreement-plot.ts';
import { interval } from './trust-tables.ts';

export interface ShownModel extends ListedModel {
  /** Records of all models, over the polls of this period. */
  records: readonly ModelReputation[];
  window: CountedWindow;
  standing: ModelStanding | null;
  agreement: CalibrationAgreement | null;
  /** The estimate from its votes, made without known answers. */
  reliability: { right: number; votes: number } | null;
}

/** GET /models/{model}: what a model costs, how it has done, and which models often vote like it. */
export function modelPage(facts: Facts, shown: ShownModel): string {
  const { model, panels, records, standing } = shown;
  const record = records.find(({ model_id }) => model_id === model.id);
  const plot = priceAgreementPlot(model.id, records);
  return layout({
    baseUrl: facts.baseUrl,
    path: modelPath(model.id),
    title: `${model.id}: price and record · EloquentPoll`,
    description: `${model.id} from ${model.family}: what it costs, how often it votes, and how often it votes for the option that its panel elects.`,
    offersFreePolls: runsFreePolls(facts),
    styles: ['catalog', 'trust'],
    main: html`<p class="eyebrow"><a href="/models">Models</a></p>
<h1>${model.id}</h1>
<p class="lead">${model.family}. ${panels.length === 0 ? 'In no panel, but callers can choose it.' : `In the ${panels.length === 1 ? 'panel' : 'panels'} ${panels.map(panelTitle).join(', ')}.`} ${shown.capabilities.map(({ label }) => label).join(', ')}</p>
${facts.panels.simulated ? notice(html`<p>This model and its record are simulated.</p>`, 'warn') : ''}
${standing?.failed ? notice(html`<p>Not asked at present: ${FAILED_TESTS[standing.failed.kind]}.</p>`, 'bad') : ''}
<h2 id="record">Record</h2>
${recordCards(model.price, record)}
<p class="muted small">“Agreed with panel”: the share of votes for the option that the whole panel elected, in audited polls of the last 30 days. They were drawn at random, and the remaining models were asked after the answer. In other polls, a model that is asked late votes mostly on disputed questions.</p>
${plot === null ? '' : html`<h2 id="plot">Price against agreement with the panel</h2>\n${plot}`}
<h2 id="tests">Test questions</h2>
${testsSection(standing)}
<h2 id="alike">Models that vote alike</h2>
${alikeSection(shown)}
<p class="muted small">Votes of polls ${windowText(shown.window)}. API: <a href="/api/reputation/models">/api/reputation/models</a>, <a href="/api/calibration">/api/calibration</a>. <a href="/trust">How we know</a></p>`,
  });
}

function recordCards(price: ListedModel['model']['price'], record: ModelReputation | undefined): Html {
  const { ballots = 0, judged = 0 } = record ?? {};
  const card = (name: string, value: string, note: string) =>
    html`<div class="card stat"><dt>${name}</dt><dd>${value}<span class="muted small">${note}</span></dd></div>
`;
  return html`<dl class="grid stats">
${card('Vendor price', perMillion(price.input), `in, ${perMillion(price.output)} out, per million tokens`)}${card('Cost per vote', usd(record?.average_cost_usd ?? null), 'on average')}${card('Mean time', seconds(record?.average_latency_ms ?? null), `of valid votes, 95% within ${seconds(record?.p95_latency_ms ?? null)}`)}${card('Valid votes', percent(record?.success_rate ?? null), trials(record?.success_rate ?? null, ballots))}${card('Agreed with panel', percent(record?.agreement_rate ?? null), record?.agreement_rate == null ? `not enough audited polls yet, n = ${whole(judged)}` : trials(record.agreement_rate, judged))}</dl>`;
}

/** The number of trials behind a rate, and its interval. */
const trials = (rate: number | null, count: number): string =>
  rate === null || count === 0
    ? 'not asked yet'
    : `${interval(shareInterval(Math.round(rate * count), count))}, n = ${whole(count)}`;

const TESTS: Record<TestKind, string> = {
  known: 'Simple questions with a known answer',
  injection: 'Questions with text that asks for a vote',
  place: 'The same options in another order',
  label: 'The same options with other labels',
};

function testsSection(standing: ModelStanding | null): Html {
  const kinds = (Object.keys(TESTS) as TestKind[]).flatMap((kind) => {
    const days = standing?.history[kind];
    return days === undefined ? [] : [[kind, days] as const];
  });
  if (kinds.length === 0) return html`<p>Not tested yet.</p>`;
  return table(
    'Test questions',
    html`<tr><th scope="col">Test</th><th scope="col" class="number">Passed</th><th scope="col" class="number">Tests</th></tr>`,
    kinds.map(([kind, days]) => {
      const tests = days.reduce((sum, day) => sum + day.trials, 0);
      const passed = tests - days.reduce((sum, day) => sum + day.hits, 0);
      return html`<tr><th scope="row">${TESTS[kind]}</th><td class="number">${percent(tests === 0 ? null : passed / tests)}<br><span class="muted small">${interval(shareInterval(passed, tests))}</span></td><td class="number">${whole(tests)}</td></tr>
`;
    }),
  );
}

const SHOWN = 5;

function alikeSection({ model, agreement, reliability }: ShownModel): Html {
  const right =
    reliability === null
      ? ''
      : html`<p>Estimated to vote for the right option in ${percent(reliability.right)} of questions, from ${whole(reliability.votes)} votes. This is an estimate from how models agree, mostly without known answers. Models that err alike look more reliable than they are: on recorded questions with known answers, such estimates were 4 to 15 points too high.</p>`;
  const place = agreement?.models.indexOf(model.id) ?? -1;
  const pairs = (agreement?.matrix[place] ?? [])
    .flatMap((value, i) => (i === place || value === null ? [] : [{ id: agreement!.models[i]!, value }]))
    .toSorted((a, b) => b.value - a.value);
  if (pairs.length === 0)
    return html`<p>Not known yet: it must have voted together with another model in 100 audited polls.</p>${right}`;
  const most = pairs.slice(0, SHOWN);
  const least = pairs.slice(Math.max(most.length, pairs.length - SHOWN));
  return html`${table(
    'Agreement with other models, corrected for chance',
    html`<tr><th scope="col">Model</th><th scope="col" class="number">Agreement</th></tr>`,
    [...most, ...least].map(
      ({
        id,
        value,
      }) => html`<tr><th scope="row"><a class="plain-link mono" href="${modelPath(id)}">${id}</a></th><td class="number">${percent(value)}</td></tr>
`,
    ),
  )}${right}`;
}
