import type { PanelStanding, ResultDetail } from '@eloquentpoll/contracts';
import { endedVerdict, type OwnersFigures } from '@eloquentpoll/polls';
import type { SameQuestion, StoredFeedbackSummary } from '@eloquentpoll/storage';
import { counted, percentOf } from '@eloquentpoll/voting/verdict';
import type { Facts } from '../discovery/documents/facts.ts';
import { toMermaid } from '../polls/read/to-mermaid.ts';
import { adviceLinks, askAgain } from './ask-again.ts';
import { juryRow } from './browser/jury-row.ts';
import { oddsChart } from './browser/odds-chart.ts';
import type { PollPicture } from './browser/poll-picture.ts';
import { tallyBars } from './browser/tally-bars.ts';
import { verdictBlock } from './browser/verdict-parts.ts';
import { code, notice } from './components.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';
import { resultGraph } from './result-graph.ts';
import { localTime, statusBadges, voteTable } from './result-parts.ts';
import { pictureOf } from './result-picture.ts';
import { reasonsSection } from './result-reasons.ts';
import { receiptCard } from './result-receipt.ts';
import { signInLink } from './sign-in-page.ts';
import { written } from './written.ts';

export interface ShownResult {
  facts: Pick<Facts, 'baseUrl' | 'figures'>;
  result: ResultDetail;
  isCanceled?: boolean;
  feedback: Pick<StoredFeedbackSummary, 'total' | 'correct' | 'incorrect'>;
  reader: ResultReader;
  hasReceipt: boolean;
  /** Feedback was just recorded. */
  thanks: boolean;
}

export interface ResultReader {
  signedIn: boolean;
  /** Visible only to the account that paid for the poll. */
  figures: OwnersFigures;
  /** The address where the owner can delete it. */
  deletePath?: string;
  /** The account's own polls of this question, this one included. */
  sameQuestion: readonly SameQuestion[];
}

export const STRANGER: ResultReader = { signedIn: false, figures: {}, sameQuestion: [] };

/** GET /result/{id}: the outcome of a poll, how far to trust it, and everything that led to it. */
export function resultPage(shown: ShownResult): string {
  const { facts, result, reader, isCanceled = false } = shown;
  const path = `/result/${result.poll_id}`;
  const question = result.question ?? '';
  const asked = { ...result, id: result.poll_id };
  const verdict = endedVerdict(result, { ...reader.figures, isCanceled });
  const picture = pictureOf(result);
  const headline = inLine(verdict.headline, 90);
  return layout({
    baseUrl: facts.baseUrl,
    path,
    title: `${inLine(question, 70)} · EloquentPoll`,
    description: `${headline}. ${counted(result.models_succeeded, 'vote')}, ${counted(picture.panelSize, 'model')} on the panel.`,
    image: { path: `${path}/card.png`, alt: `The verdict: ${headline}` },
    scripts: ['result', 'local-time'],
    styles: ['polls', 'result'],
    hidden: true,
    signedIn: reader.signedIn,
    main: html`<p class="eyebrow row">${statusBadges(result, isCanceled)}<span>${panelText(result, picture)}</span><span>${localTime(result.created_at)}</span></p>
<h1 class="question${question.length > LONG ? ' long' : ''}" dir="auto">${question}</h1>
<div class="result-head">
<section class="card ${result.status}">
${written([verdictBlock(verdict, result.options), juryRow(picture)])}
${readingLine(result)}
${adviceLinks(verdict.advice, asked, facts)}</section>
${
  result.votes.length === 0
    ? ''
    : html`<section class="card tally"><h2>Votes</h2>
${written(tallyBars(picture))}</section>
`
}</div>
${question.length > LONG ? html`<details class="whole-question"><summary>The whole question</summary><p dir="auto">${question}</p></details>` : ''}
${oddsSection(picture)}
${reasonsSection(result)}
${votesSection(result)}
<div class="grid wide-cells after">
${askAgain(asked, facts, together(result, reader))}
<div class="column">
${share(facts.baseUrl, path, shown)}
${shown.hasReceipt ? receiptCard(result.poll_id) : ''}
${result.winning_option === null ? '' : opinions(shown, path)}
</div>
</div>`,
  });
}

const LONG = 240;

const panelText = ({ preset }: ResultDetail, { panelSize, votes }: PollPicture): string =>
  `${preset ? `${preset.replace('_', ' ')} panel, ` : ''}${votes.length} of ${panelSize} models asked`;

function oddsSection(picture: PollPicture): Html {
  const chart = oddsChart(picture);
  if (chart === null) return html``;
  return html`<section aria-labelledby="odds-title"><h2 id="odds-title">Chance of winning the full panel, vote by vote</h2>
<div${picture.odds.length > 0 ? html` data-odds="${JSON.stringify(picture)}"` : ''}>${written([chart])}</div>
<p class="small muted">Worked out from the votes. <a href="/trust">How often such figures came true</a></p></section>`;
}

function votesSection(result: ResultDetail): Html {
  if (result.votes.length === 0) return html``;
  const { question, models_skipped: skipped, panel } = result;
  return html`<h2>Every vote</h2>
<p class="muted">In order of arrival. ${skipped === 0 ? 'Every model was asked.' : `${skipped} ${skipped === 1 ? 'model was' : 'models were'} not asked.`}${panel ? ` ${voicesText(panel)}` : ''}</p>
${voteTable(result)}
<details class="graph-fold"><summary>Who voted for what, as a graph</summary>
${resultGraph(result)}
${code(toMermaid({ ...result, question: question ?? '' }), 'Mermaid source')}</details>`;
}

/** Shown only if it differs from the plurality, which it nearly always does in a tie. */
function readingLine({ reading, is_tie: isTie }: ResultDetail): Html {
  if (!reading || !(reading.differs || isTie)) return html``;
  const { winner, likelihood } = reading;
  const percent = percentOf(likelihood);
  const said =
    winner === null
      ? html`the votes are still level.`
      : html`the votes ${isTie ? 'lean to' : 'speak for'} <bdi>${winner}</bdi>${percent === null ? '' : `, an estimated ${percent} likely to be right`}. ${isTie ? 'The poll stays a tie.' : 'The winner stays the option with the most votes.'}`;
  return html`<p class="small" data-reading>Weighted by how reliable each model has been, ${said}</p>`;
}

function voicesText({ heard, vendors_heard, effective_votes }: PanelStanding): string {
  const vendors = vendors_heard === 1 ? '1 vendor' : `${vendors_heard} vendors`;
  const alike =
    effective_votes === null ? '' : `, which agree so often that they are worth ${effective_votes} independent votes`;
  return heard === 0
    ? 'No model was heard.'
    : `Heard: ${heard === 1 ? '1 model' : `${heard} models`} of ${vendors}${alike}.`;
}

/** All polls of this question together: those of the account here, those of this device by a script. */
function together({ winning_option: winner }: ResultDetail, { sameQuestion }: ResultReader): Html {
  const all = sameQuestion.reduce((sum, { polls }) => sum + polls, 0);
  if (all < 2)
    return html`<p class="same-question" data-same-question${winner === null ? '' : html` data-winner="${winner}"`} hidden></p>`;
  return html`<p class="same-question">Same question, asked ${all === 2 ? 'twice' : `${all} times`}: ${sameQuestion.map(
    ({ winner, polls }, i) => html`${i === 0 ? '' : ', '}<bdi>${winner ?? 'no winner'}</bdi> ${polls}`,
  )}.</p>`;
}

const share = (
  baseUrl: string,
  path: string,
  { result: { poll_id: id, expires_at: expiresAt }, reader: { deletePath } }: ShownResult,
): Html => html`<section class="card stack share-card"><h2>Share</h2>
<p class="muted">Anyone with this link can see the result${expiresAt === undefined ? '' : html` until ${localTime(expiresAt, 'short')}, when it is deleted`}. It doesn't show who asked or the cost.${deletePath === undefined ? html` Its owner can <a href="/guides/keep-and-delete">delete it</a>${expiresAt === undefined ? '' : ' before'}.` : ''}</p>
<p class="share"><label class="hidden-text" for="link">Link to this result</label><input id="link" readonly value="${baseUrl}${path}">
<button class="button secondary" type="button" data-copy hidden>Copy</button></p>
<p class="row spread small"><a href="/api/results/${id}">Download JSON</a>${deletePath === undefined ? '' : html`<a class="button danger small" href="${deletePath}">Delete</a>`}</p></section>`;

function opinions({ feedback, reader, thanks }: ShownResult, path: string): Html {
  const { total, correct, incorrect } = feedback;
  const others = total === 0 ? 'No feedback yet.' : `${correct} yes, ${incorrect} no.`;
  return html`<section class="card stack" id="feedback" tabindex="-1"><h2>Did this turn out to be right?</h2>
${thanks ? notice(html`<p>Thank you, that was recorded.</p>`, 'good') : ''}
<p class="muted">${others}</p>
${
  reader.signedIn
    ? html`<form class="row" method="post" action="${path}/feedback"><button class="button secondary" name="outcome" value="correct">It was right</button>
<button class="button secondary" name="outcome" value="incorrect">It was wrong</button></form>`
    : html`<p><a href="${signInLink(path)}">Sign in</a> to leave feedback (one per account).</p>`
}</section>`;
}

/** For a title: one line, cut to a length, without bidirectional control characters. */
export function inLine(text: string, longest: number): string {
  const plain = [...text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim()];
  return plain.length <= longest ? plain.join('') : `${plain.slice(0, longest - 1).join('')}…`;
}
