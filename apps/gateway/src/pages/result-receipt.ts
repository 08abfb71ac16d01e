import { type Html, html } from './html.ts';

/** The receipt of a result, with a button that verifies everything in it in the browser. */
export const receiptCard = (
  id: string,
): Html => html`<section class="card stack receipt-card" data-receipt="${id}"><h2>Receipt</h2>
<p class="muted">A signed statement of every vote, the odds after each one, and why the poll stopped. Your browser can work it all out again.</p>
<p class="row"><button class="button secondary" type="button" data-verify hidden>Verify</button>
<a href="/api/results/${id}/receipt">Receipt as JSON</a></p>
<div class="stack" data-parts role="status"></div></section>`;
