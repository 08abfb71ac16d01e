import { LIMITS } from '@eloquentpoll/contracts';
import { type Html, html } from './html.ts';

// The form of a free poll, on the homepage and in the playground. Sent by a browser without scripts it leads to the page
// of the result; with browser/free-poll.ts the votes show on the same page as they arrive.

export interface FreePoll {
  question: string;
  options: readonly string[];
}

const { question: mostCharacters, options: mostOptions, option: longest } = LIMITS.free;

/** `problem` is the validation error of the poll in the form. */
export const freePollForm = ({ question, options }: FreePoll, problem: string | null = null): Html =>
  html`<form id="free-poll" class="card free-poll" method="post" action="/playground" accept-charset="utf-8">
<p class="notice" id="free-poll-problem" data-tone="bad" role="alert"${problem === null ? html` hidden` : ''}>${problem ?? ''}</p>
<p class="field"><label for="question">Question</label>
<textarea id="question" name="question" required minlength="${LIMITS.question.min}" maxlength="${mostCharacters}" rows="3" dir="auto">${question}</textarea></p>
<fieldset class="field"><legend>Options</legend>
<div class="option-fields">
${Array.from(
  { length: mostOptions },
  (_, i) =>
    html`<input name="option" aria-label="Option ${i + 1}" maxlength="${longest}" value="${options[i] ?? ''}" placeholder="${i < LIMITS.options.min ? `Option ${i + 1}` : 'One more, or nothing'}" dir="auto" autocomplete="off"${i < LIMITS.options.min ? html` required` : ''}>
`,
)}</div></fieldset>
<p class="row spread"><button class="button" type="submit">Ask the models</button>
<span class="hint">Free. The result is public to anyone who holds its link.</span></p>
</form>`;

/** The element in which that poll's votes are shown. */
export const livePollPlace: Html = html`<section id="live-poll" class="card live-poll" aria-label="The poll while it runs" hidden></section>`;
