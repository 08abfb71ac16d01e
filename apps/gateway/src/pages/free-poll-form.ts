import { LIMITS } from '@eloquentpoll/contracts';
import type { Facts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import type { Extras } from './ask-again.ts';
import type { FreePollLimits } from './browser/free-poll-problem.ts';
import { extraBoxes } from './form-parts.ts';
import { type Html, html } from './html.ts';

// The form of a free poll, on the homepage and in the playground. Without scripts, submitting it opens the result page;
// with browser/free-poll.ts the votes appear on the same page as they arrive.

export interface FreePoll extends Partial<Extras> {
  question: string;
  options: readonly string[];
}

export const FREE_POLL_LIMITS: FreePollLimits = {
  question: { min: LIMITS.question.min, max: LIMITS.free.question },
  options: { min: LIMITS.options.min, max: LIMITS.free.options },
  option: LIMITS.free.option,
};

/**
 * `problem` is the validation error of the poll in the form. Text that is too long is kept and reported, not cut.
 * Another option field appears when all the fields before it are filled.
 */
const freePollForm = ({ question, options, ...extras }: FreePoll, problem: string | null): Html =>
  html`<form id="free-poll" class="card free-poll" method="post" action="/playground" accept-charset="utf-8" novalidate data-limits="${JSON.stringify(FREE_POLL_LIMITS)}">
<p class="notice" id="free-poll-problem" data-tone="bad" role="alert"${problem === null ? html` hidden` : ''}>${problem ?? ''}</p>
<p class="field"><span class="field-head"><label for="question">Question</label><span class="counter" data-counter="question" aria-live="off"></span></span>
<textarea id="question" name="question" required rows="3" dir="auto">${question}</textarea></p>
<fieldset class="field"><legend>Options</legend>
<div class="option-fields">
${Array.from(
  { length: FREE_POLL_LIMITS.options.max },
  (_, i) =>
    html`<span class="option-field"><input name="option" aria-label="Option ${i + 1}" value="${options[i] ?? ''}" placeholder="${i < FREE_POLL_LIMITS.options.min ? `Option ${i + 1}` : 'Another option (optional)'}" dir="auto" autocomplete="off"><span class="counter" data-counter="option"></span></span>
`,
)}</div></fieldset>
${extraBoxes(extras)}<p class="row spread"><button class="button" type="submit">Ask the models</button>
<span class="hint">Free. Anyone with the link can see the result.</span></p>
</form>`;

/** The element in which the votes of that poll are shown. */
const livePollPlace: Html = html`<section id="live-poll" class="card live-poll" aria-label="The poll while it runs" hidden></section>`;

const signInToAsk: Html = html`<section class="card stack"><h2>Ask a poll</h2>
<p>Sign in and add funds. Then ask any panel on the dashboard, or with an API key.</p>
<p class="row"><a class="button" href="/dashboard">Sign in</a><a class="button secondary" href="/pricing">See pricing</a></p>
</section>`;

/** Where free polls are not offered, a link to paid polls instead. */
export const placeToAsk = (facts: Pick<Facts, 'panels'>, poll: FreePoll, problem: string | null = null): Html =>
  runsFreePolls(facts)
    ? html`${freePollForm(poll, problem)}
${livePollPlace}`
    : signInToAsk;
