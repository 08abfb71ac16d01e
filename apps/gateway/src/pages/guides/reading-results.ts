import { html } from '../html.ts';
import type { Guide } from './guide.ts';

export const readingResults: Guide = {
  name: 'reading-results',
  title: 'Reading a result',
  description: 'What the fields of a result mean, and which of them a program should use.',
  content: () => html`<table>
<thead><tr><th scope="col">Field</th><th scope="col">What it says</th></tr></thead>
<tbody>
<tr><th scope="row"><code>outcome</code></th><td>The text of the winning option, <code>tie</code>, or <code>no_votes</code>.</td></tr>
<tr><th scope="row"><code>winning_option</code></th><td>The same text, but null for a tie and without votes. Use this field in programs.</td></tr>
<tr><th scope="row"><code>status</code></th><td><code>success</code>; <code>partial</code> if missing votes could have changed the outcome; <code>failed</code> without a valid vote.</td></tr>
<tr><th scope="row"><code>confidence</code></th><td>The probability that the full panel would elect this winner, not that the winner is right. If <code>status</code> is <code>partial</code>, models that failed count as still to vote, otherwise as absent.</td></tr>
<tr><th scope="row"><code>verdict</code></th><td>The outcome in words: <code>headline</code>, <code>agreement</code> (unanimous to split), <code>text</code>.</td></tr>
<tr><th scope="row"><code>tally</code>, <code>votes</code></th><td>Votes by option, and each model’s vote or error.</td></tr>
<tr><th scope="row"><code>panel</code></th><td>Models that were asked, voted or are missing, and how many independent votes their votes are worth.</td></tr>
<tr><th scope="row"><code>termination_reason</code></th><td>Why the poll stopped: the outcome was final or certain enough, the budget was used up, or every model was asked.</td></tr>
</tbody>
</table>
<h2>A rule that works</h2>
<p>Act on <code>winning_option</code> when <code>status</code> is <code>success</code> and <code>verdict.agreement</code> is <code>unanimous</code>, <code>broad</code> or
<code>clear</code>. On <code>split</code>, <code>tied</code> or <code>partial</code> ask a person, or ask again with the <code>strong</code> preset.</p>
<h2>Proof</h2>
<p><code>GET /api/results/{id}/receipt</code> is a signed statement of the result. <code>eloquentpoll verify {id}</code> and the button on the result’s page
recompute it: signature, votes, odds and why the poll stopped.</p>
<p>Report whether it was right: <code>POST /api/feedback</code> with <code>poll_id</code> and <code>outcome_correct</code>.</p>`,
};
