import type { ResultDetail } from '@eloquentpoll/contracts';
import type { StoredFeedbackSummary } from '@eloquentpoll/storage';
import { toMermaid } from '../polls/read/to-mermaid.ts';
import { code, notice } from './components.ts';
import { moment } from './figures.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { resultGraph } from './result-graph.ts';
import { climb, outcome, shortfall, statusBadge, tallyChart, voteTable } from './result-parts.ts';

export interface ShownResult {
  baseUrl: string;
  result: ResultDetail;
  feedback: Pick<StoredFeedbackSummary, 'total' | 'correct' | 'incorrect'>;
  /** The outcome of feedback that was just sent. */
  word: 'thanks' | 'sign-in' | null;
}

/** GET /result/{id}: a result for people, with its picture for links elsewhere. */
export function resultPage(shown: ShownResult): string {
  const { baseUrl, result } = shown;
  const path = `/result/${result.poll_id}`;
  const question = result.question ?? '';
  const { winning_option: winner } = result;
  const said = winner !== null ? `${inLine(winner, 60)} wins` : result.is_tie ? 'A tie' : 'No votes';
  return layout({
    baseUrl,
    path,
    title: `${inLine(question, 70)} · EloquentPoll`,
    description: `${said}: ${result.models_succeeded} votes of ${result.models_requested} models.`,
    image: { path: `${path}/card.png`, alt: `Tally of the poll: ${said}` },
    styles: ['polls', 'result'],
    hidden: true,
    main: html`<p class="eyebrow row">${statusBadge(result)} <span>${moment(new Date(result.created_at))}</span></p>
<h1 class="question${question.length > LONG ? ' long' : ''}" dir="auto">${question}</h1>
${shortfall(result)}
<div class="grid wide-cells result-head">
${outcome(result)}
<section class="card"><h2>Tally</h2>
${tallyChart(result)}</section>
</div>
${climb(result)}
<h2>Every vote</h2>
<p class="muted">In the order in which they came in. ${skipped(result)}</p>
${voteTable(result)}
<h2>Who voted for what</h2>
${resultGraph(result)}
<details><summary>The same as a Mermaid diagram</summary>
${code(toMermaid({ ...result, question }), 'Mermaid diagram')}</details>
<div class="grid wide-cells">
${share(baseUrl, path, result.poll_id)}
${opinions(shown, path)}
</div>`,
  });
}

const LONG = 140;

const skipped = ({ models_skipped: count }: ResultDetail): string =>
  count === 0 ? 'No model was skipped.' : `${count} ${count === 1 ? 'model was' : 'models were'} not asked.`;

const share = (baseUrl: string, path: string, id: string): Html => html`<section class="card stack"><h2>Share it</h2>
<p class="muted">Anyone who has this link can read the result. It says neither who asked nor what it cost.</p>
<p class="share"><label class="hidden-text" for="link">Link to this result</label><input id="link" readonly value="${baseUrl}${path}">
<button class="button secondary" type="button" data-copy hidden>Copy</button></p>
<p class="small"><a href="/api/results/${id}">As JSON</a></p></section>`;

function opinions({ feedback, word }: ShownResult, path: string): Html {
  const { total, correct, incorrect } = feedback;
  const others = total === 0 ? 'No opinions yet.' : `${correct} of ${total} say yes, ${incorrect} say no.`;
  return html`<section class="card stack" id="feedback"><h2>Was it right?</h2>
${word === 'thanks' ? notice(html`<p>Thank you, that was recorded.</p>`, 'good') : ''}${
  word === 'sign-in'
    ? notice(html`<p>Opinions count once per account: <a href="/dashboard">sign in</a>, then say it again.</p>`, 'warn')
    : ''
}
<p class="muted">Once it has turned out. ${others}</p>
<form class="row" method="post" action="${path}/feedback"><button class="button secondary" name="outcome" value="correct">It was right</button>
<button class="button secondary" name="outcome" value="incorrect">It was wrong</button></form></section>`;
}

/** For a title: one line, cut, without bidirectional control characters. */
export function inLine(text: string, longest: number): string {
  const plain = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()];
  return plain.length <= longest ? plain.join('') : `${plain.slice(0, longest - 1).join('')}…`;
}
