import { LIMITS } from '@eloquentpoll/contracts';
import { tabs } from '../components.ts';
import { holdBackSentence } from '../hold-back-sentence.ts';
import { type Html, html } from '../html.ts';
import type { AccountView, Funding } from './account.ts';

// Two ways to add funds. A USDC payment is credited to the wallet that signs, so the page pays only from wallets of
// this account. There is no address to send money to, because a plain transfer does not name an account.

export const addFunds = (
  account: AccountView,
  funding: Funding,
): Html => html`<section class="card" id="funds" aria-labelledby="funds-title">
<h2 id="funds-title">Add funds</h2>
${tabs('Ways to pay', [
  { id: 'card', title: 'Card', content: funding.card ? cardForm(funding.card) : off('Card payments') },
  { id: 'usdc', title: 'USDC', content: funding.chain ? usdcForm(account, funding.chain) : off('Deposits in USDC') },
])}
</section>
`;

const off = (what: string): Html => html`<p class="muted">${what} are not configured on this service.</p>`;

const amountField = (
  id: string,
  min: number,
  max: number,
): Html => html`<p class="field"><label for="${id}">Amount ($)</label>
<input id="${id}" name="amount" type="number" min="${min}" max="${max}" step="0.01" value="10" required inputmode="decimal"></p>
<p class="row">${[5, 10, 25, 100].map((amount) => html`<button class="button secondary small" type="button" data-amount="${amount}">$${amount}</button>`)}</p>`;

const cardForm = ({ holdBack }: NonNullable<Funding['card']>): Html => html`<form class="stack" data-card>
${amountField('card-amount', LIMITS.checkout_cents.min / 100, LIMITS.checkout_cents.max / 100)}
<p class="muted small">You pay on our payment provider’s page; we never see your card. ${holdBackSentence(holdBack)}</p>
<p><button class="button" data-needs-script disabled>Pay by card</button></p>
<p class="field-error" role="alert" data-said hidden></p>
</form>`;

function usdcForm({ wallets }: AccountView, chain: NonNullable<Funding['chain']>): Html {
  if (wallets.length === 0)
    return html`<p>USDC is credited to the account of the paying wallet, and this account has no wallet. To pay in USDC, sign out and
<a href="/dashboard#wallet">sign in with the wallet</a>; it has its own balance.</p>
${terms(chain)}`;
  return html`<form class="stack" data-usdc data-chain="${chain.id}" data-wallets="${wallets.join(' ')}">
${amountField('usdc-amount', LIMITS.deposit_usd.min, LIMITS.deposit_usd.max)}
<p class="muted small">Your wallet signs a payment of exactly this amount. We submit it to the chain and pay the fee; it is credited
once the chain shows the transfer.</p>
<p><button class="button" data-needs-script disabled>Pay with wallet</button></p>
<p role="status" data-said hidden></p>
</form>
${terms(chain)}`;
}

const terms = ({ name, id, asset, payTo }: NonNullable<Funding['chain']>): Html => html`<details class="small">
<summary>Terms of a deposit</summary>
<dl class="facts">
<dt>Network</dt><dd>${name} (chain ${id})</dd>
<dt>Token</dt><dd class="mono">${asset}</dd>
<dt>Paid to</dt><dd class="mono">${payTo}</dd>
<dt>For programs</dt><dd><code>POST /api/deposit</code>, x402 in versions 1 and 2</dd>
</dl>
<p><strong>Do not send tokens to this address.</strong> A plain transfer cannot be assigned to an account and is not credited. Pay with
the button, or with an x402 client.</p>
</details>`;
