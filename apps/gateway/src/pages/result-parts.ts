import type { ResultDetail } from '@eloquentpoll/contracts';
import { CLIMB_HEIGHT, climbLabel, climbShapes } from './browser/climb.ts';
import { sure, voteError, whyItStopped } from './browser/why-it-stopped.ts';
import { badge, bar, notice, table } from './components.ts';
import { type Html, html } from './html.ts';
import { countOf } from './result-graph.ts';

// The parts of a result page. Texts of callers and models are in elements of their own with dir="auto".

export function statusBadge({ status, simulated }: ResultDetail): Html {
  const known = {
    success: badge('Complete', 'good'),
    partial: badge('Partial', 'warn'),
    failed: badge('No outcome', 'bad'),
  }[status];
  return simulated ? html`${known} ${badge('Simulated models', 'warn')}` : known;
}

/** A notice for partial and failed results. */
export function shortfall({ status, models_failed, models_requested }: ResultDetail): Html {
  if (status === 'success') return html``;
  const failed =
    models_failed > 0 ? ` ${models_failed} of ${models_requested} models that were asked gave no vote.` : '';
  return status === 'partial'
    ? notice(
        html`<p><strong>This result is partial.</strong> Votes that are missing could have changed the outcome.${failed}</p>`,
        'warn',
      )
    : notice(html`<p><strong>This poll has no outcome.</strong> Not one valid vote came in.${failed}</p>`, 'bad');
}

export function outcome(result: ResultDetail): Html {
  const { winning_option: winner, is_tie, confidence = null, confidence_threshold: threshold, status } = result;
  const [label, text] = winner !== null ? ['Winner', winner] : is_tie ? ['Outcome', 'A tie'] : ['Outcome', 'No votes'];
  const stopped = whyItStopped({
    status,
    termination_reason: result.termination_reason,
    asked: result.models_requested,
    skipped: result.models_skipped,
    confidence,
    confidence_threshold: threshold,
  });
  return html`<section class="card outcome ${status}">
<p class="eyebrow">${label}</p>
<p class="winner" dir="auto">${text}</p>
${confidence === null ? '' : gauge(confidence, threshold)}
<p>${stopped}</p>
</section>`;
}

/** The confidence against its threshold. */
const gauge = (confidence: number, threshold: number | null): Html => html`<div class="gauge">
<p class="row spread small"><span><strong>${sure(confidence)}</strong> sure that the full panel elects the same</span>${
  threshold === null ? '' : html`<span class="muted">asked for ${sure(threshold)}</span>`
}</p>
<svg width="100%" height="16" aria-hidden="true"><rect class="track" y="3" width="100%" height="10" rx="5"/><rect class="fill" y="3" width="${(100 * confidence).toFixed(1)}%" height="10" rx="5"/>${
  threshold === null
    ? ''
    : html`<line x1="${(100 * threshold).toFixed(1)}%" x2="${(100 * threshold).toFixed(1)}%" y1="0" y2="16"/>`
}</svg>
</div>`;

export function tallyChart({ options, tally, winning_option }: ResultDetail): Html {
  const rows = options.map((option) => ({ option, count: countOf(tally, option) }));
  const all = Math.max(
    1,
    rows.reduce((sum, { count }) => sum + count, 0),
  );
  return html`<ul class="bars">
${rows.map(
  ({
    option,
    count,
  }) => html`<li class="bar-row${option === winning_option ? ' leads' : ''}"><span class="name" dir="auto">${option}</span>
<span class="count">${count} ${count === 1 ? 'vote' : 'votes'}, ${Math.round((100 * count) / all)} %</span>${bar(count / all)}</li>
`,
)}</ul>`;
}

/** Confidence after each vote; empty if it was not recorded. */
export function climb({ timing, models_requested, models_skipped, confidence_threshold }: ResultDetail): Html {
  const steps = (timing.arrivals ?? []).flatMap(({ confidence }, i) =>
    confidence === null ? [] : [{ received: i + 1, confidence }],
  );
  if (steps.length === 0 || confidence_threshold === null) return html``;
  const drawn = {
    steps,
    total: models_requested + models_skipped,
    threshold: confidence_threshold,
    stoppedAt: models_requested,
  };
  return html`<h2>How sure the outcome was</h2>
<svg class="climb" width="100%" height="${CLIMB_HEIGHT}" role="img" aria-label="${climbLabel(drawn)}">
${climbShapes(drawn).map(
  ({ name, attributes, text }) =>
    html`<${name}${Object.entries(attributes).map(([key, value]) => html` ${key}="${value}"`)}>${text}</${name}>`,
)}
</svg>`;
}

/** Votes in order of arrival, each with the time from request to answer. */
export function voteTable({ votes, winning_option, timing: { arrivals } }: ResultDetail): Html {
  const rows = votes.map((vote, i) => ({ ...vote, span: spanOf(vote.latency_ms, arrivals?.[i]?.at_ms) }));
  const end = Math.max(1, ...rows.map(({ span }) => span.to));
  return table(
    'Votes in the order in which they came in',
    html`<tr><th scope="col" class="number">#</th><th scope="col">Model</th><th scope="col">Vote</th><th scope="col" class="timeline">${arrivals ? 'From asked to answered' : 'Time taken'}</th></tr>`,
    rows.map(
      (
        { model_id, chosen_option, error, latency_ms, span },
        i,
      ) => html`<tr${chosen_option !== null && chosen_option === winning_option ? html` class="leads"` : ''}><td class="number">${i + 1}</td>
<th scope="row" class="text mono">${model_id}</th>
<td class="text">${chosen_option === null ? html`<span class="no-vote">${voteError(error)}</span>` : html`<span dir="auto">${chosen_option}</span>`}</td>
<td class="timeline"><span class="took">${inSeconds(latency_ms)}${arrivals ? `, in at ${inSeconds(span.to)}` : ''}</span>${timeBar(span, end)}</td></tr>
`,
    ),
  );
}

interface Span {
  from: number;
  to: number;
}

/** Without a recorded arrival the model is shown as asked at the start. */
const spanOf = (latency: number, arrival = latency): Span => ({ from: Math.max(0, arrival - latency), to: arrival });

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

const timeBar = ({ from, to }: Span, end: number): Html =>
  html`<svg class="bar" aria-hidden="true"><rect x="${((100 * from) / end).toFixed(1)}%" width="${Math.max(0.5, (100 * (to - from)) / end).toFixed(1)}%" height="100%"/></svg>`;
