import type { Facts } from '../../discovery/documents/facts.ts';
import { aboutUsd } from '../../discovery/documents/poll-figures.ts';
import { runsFreePolls } from '../../polls/order/runs-free-polls.ts';
import { type Html, html } from '../html.ts';
import type { AccountView } from './account.ts';

/** Up to three steps for an account without polls; a step that was done is left out. */
export function firstSteps(
  { recent, balance: { balance_cents }, hasKey }: AccountView,
  facts: Pick<Facts, 'figures' | 'panels'>,
): Html {
  const isFree = runsFreePolls(facts);
  if (recent.length > 0 || (!isFree && hasKey && balance_cents > 0)) return html``;
  return html`<section class="card first-steps" aria-labelledby="first-title">
<h2 id="first-title">First steps</h2>
<ol>
${isFree ? html`<li data-free-step><a href="/playground">Ask a free poll</a> to see what a result looks like.</li>\n` : ''}${hasKey ? '' : html`<li><a href="/dashboard/keys">Create a key</a> to run polls from code or by your agent.</li>\n`}${balance_cents > 0 ? '' : html`<li><a href="#funds">Add funds</a>: a typical poll costs about ${aboutUsd(facts.figures.broad.cost_usd.expected)}.</li>\n`}</ol>
</section>
`;
}
