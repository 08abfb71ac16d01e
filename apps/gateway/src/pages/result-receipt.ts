import { type Html, html } from './html.ts';

/** The receipt of a result, and a button that works out in the browser all that it says. */
export const receiptCard = (
  id: string,
): Html => html`<section class="card stack receipt-card" data-receipt="${id}"><h2>Receipt</h2>
<p class="muted">A signed statement of every vote, the odds after each one, and why the poll stopped. Your browser can work it all out again.</p>
<p class="row"><button class="button secondary" type="button" data-verify hidden>Verify</button>
<a href="/api/results/${id}/receipt">Receipt as JSON</a></p>
<div class="stack" data-parts role="status"></div></section>`;
