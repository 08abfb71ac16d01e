import { dollarsOfCents } from '../../accounts/balance.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import type { FilledPoll } from '../ask-again.ts';
import { notice } from '../components.ts';
import { usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import type { AccountView, Funding, PaymentReturn } from './account.ts';
import { addFunds } from './add-funds.ts';
import { dashboardLayout } from './dashboard-layout.ts';
import { firstSteps } from './first-steps.ts';
import { lowBalanceBanner } from './low-balance.ts';
import { profileSection } from './profile.ts';
import { recentSection } from './recent-section.ts';
import { runPollCard } from './run-poll.ts';

// /dashboard: the state of the account, and the next poll. Running polls and paying need scripts.

export const overviewPage = (
  facts: Facts,
  account: AccountView,
  { funding, filled }: { funding: Funding; filled: FilledPoll | null },
): string =>
  dashboardLayout({
    baseUrl: facts.baseUrl,
    path: '/dashboard',
    heading: 'Dashboard',
    aside: html`<p class="row small"><span class="muted">${nameOf(account)}</span> <a class="narrow-only" href="/api/auth/logout">Sign out</a></p>`,
    scripts: ['dashboard'],
    styles: ['polls'],
    main: html`${account.payment ? paymentNote(account.payment) : ''}
<noscript>${notice(html`<p>To run polls and to pay, let this page run scripts, or use the <a href="/api/docs">API</a>.</p>`, 'warn')}</noscript>
${lowBalanceBanner(account.level)}
${balance(account)}
${firstSteps(account, facts)}
${runPollCard(facts, account, filled)}
${recentSection(account.recent)}
<div class="dashboard-columns">
${addFunds(account, funding)}
${profileSection(account, facts.config.identityProvider)}
</div>`,
  });

/** The e-mail address, else a shortened wallet address, else the beginning of the account id. */
function nameOf({ user: { email, userId }, wallets: [wallet] }: AccountView): string {
  if (!email.endsWith('.invalid')) return email;
  return wallet ? `${wallet.slice(0, 6)}…${wallet.slice(-4)}` : `Account ${userId.slice(0, 8)}`;
}

const balance = ({
  balance: { balance, usage_cents, held_back_cents: heldBackCents },
  heldU,
}: AccountView): Html => html`<dl class="grid stats" id="balance">
<div class="card stat"><dt>Balance</dt><dd data-balance>${balance}</dd></div>
<div class="card stat"><dt>Reserved</dt><dd>${usd(Number(heldU) / 1_000_000)}</dd></div>${
  heldBackCents === undefined
    ? ''
    : html`
<div class="card stat"><dt>Available once the card payment settles</dt><dd>${usd(heldBackCents / 100)}</dd></div>`
}
<div class="card stat"><dt>Total spent</dt><dd>${dollarsOfCents(BigInt(usage_cents))}</dd></div>
</dl>
`;

function paymentNote(payment: PaymentReturn): Html {
  switch (payment.kind) {
    case 'cancelled':
      return notice(html`<p role="status">The payment was cancelled. Nothing was charged.</p>`);
    case 'credited':
      return notice(
        html`<p role="status">${dollarsOfCents(BigInt(payment.amountCents))} added to your balance.</p>`,
        'good',
      );
    case 'waiting':
      return notice(
        html`<p role="status">Your payment is not confirmed yet. ${payment.looks < MAX_RELOADS ? 'This page checks again by itself.' : 'Some payment methods take days. Your balance updates when the money arrives.'}
<a href="/dashboard?checkout=success&amp;looks=${payment.looks + 1}"${payment.looks < MAX_RELOADS ? html` data-look-again` : ''}>Check again</a></p>`,
        'accent',
      );
  }
}

const MAX_RELOADS = 5;
