import type { ResultDetail } from '@eloquentpoll/contracts';
import { isCanceled } from '@eloquentpoll/voting/verdict';
import { colourClasses } from './browser/poll-picture.ts';
import { voteError } from './browser/vote-error.ts';
import { badge, table } from './components.ts';
import { moment } from './figures.ts';
import { type Html, html } from './html.ts';
import { modelPath } from './model-anchor.ts';
import { pictureOf } from './result-picture.ts';

// The parts of a result page. Texts from callers and models are in elements with dir="auto".

/** A finished poll is the normal case and gets no badge; all other states do. */
export function statusBadges({ status, votes, simulated, panel }: ResultDetail, canceledByCaller: boolean): Html {
  const canceled = canceledByCaller || isCanceled(votes.map(({ error }) => error)) ? badge('Canceled', 'warn') : '';
  const known = { success: html``, partial: badge('Partial', 'warn'), failed: badge('No answer', 'bad') }[status];
  const thin =
    panel && panel.missing.length > 0 ? badge(`${panel.heard} of ${panel.asked} models answered`, 'warn') : '';
  return html`${canceled}${known}${thin}${simulated ? badge('Simulated models: not a real answer', 'warn') : ''}`;
}

/**
 * UTC; a script converts it to the reader's time zone. `short` is for tables, where the tooltip shows the exact time.
 */
export const localTime = (iso: string, form: 'full' | 'short' = 'full'): Html =>
  html`<time datetime="${iso}" data-local="${form}">${moment(new Date(iso))}</time>`;

/** Votes in order of arrival, each with the time from request to answer. */
export function voteTable(result: ResultDetail): Html {
  const {
    votes,
    options,
    winning_option,
    timing: { arrivals },
  } = result;
  const colours = colourClasses(pictureOf(result));
  const rows = votes.map((vote, i) => ({ ...vote, span: spanOf(vote.latency_ms, arrivals?.[i]?.at_ms) }));
  const end = Math.max(1, ...rows.map(({ span }) => span.to));
  return table(
    'Votes in order of arrival',
    html`<tr><th scope="col" class="number">#</th><th scope="col">Model</th><th scope="col">Vote</th><th scope="col" class="timeline">Response time</th></tr>`,
    rows.map(
      (
        { model_id, chosen_option, error, latency_ms, span },
        i,
      ) => html`<tr${chosen_option === null ? '' : html` class="${colours[options.indexOf(chosen_option)]!}${chosen_option === winning_option ? ' leads' : ''}"`}><td class="number">${i + 1}</td>
<th scope="row" class="text mono"><a class="plain-link" href="${modelPath(model_id)}">${model_id}</a></th>
<td class="text">${chosen_option === null ? html`<span class="no-vote">${voteError(error)}</span>` : html`<span class="dot"></span><span dir="auto">${chosen_option}</span>`}</td>
<td class="timeline"><span class="took">${inSeconds(latency_ms)}${arrivals ? ` (at ${inSeconds(span.to)})` : ''}</span>${timeBar(span, end)}</td></tr>
`,
    ),
  );
}

interface Span {
  from: number;
  to: number;
}

/** A model without a recorded arrival is shown as asked at the start. */
const spanOf = (latency: number, arrival = latency): Span => ({ from: Math.max(0, arrival - latency), to: arrival });

const inSeconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;

const timeBar = ({ from, to }: Span, end: number): Html =>
  html`<svg class="bar" aria-hidden="true"><rect x="${((100 * from) / end).toFixed(1)}%" width="${Math.max(0.5, (100 * (to - from)) / end).toFixed(1)}%" height="100%"/></svg>`;
