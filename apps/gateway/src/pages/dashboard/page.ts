import { dollarsOfCents } from '../../accounts/balance.ts';
import type { Facts } from '../../discovery/documents/facts.ts';
import { notice } from '../components.ts';
import { usd } from '../figures.ts';
import { type Html, html } from '../html.ts';
import { layout } from '../layout.ts';
import type { AccountView, Funding, PaymentReturn } from './account.ts';
import { addFunds } from './add-funds.ts';
import { historySection } from './history.ts';
import { keysSection } from './keys.ts';
import { profileSection } from './profile.ts';
import { runPollCard } from './run-poll.ts';

// /dashboard: the account of who is logged in. Without scripts it can be read and paged, and keys are made and revoked by
// forms; running polls and paying take scripts, because their next step is one.

export const dashboardPage = (facts: Facts, account: AccountView, funding: Funding): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/dashboard',
    title: 'Dashboard · EloquentPoll',
    description: 'Balance, keys, polls and payments of your account.',
    scripts: ['dashboard'],
    styles: ['polls', 'dashboard'],
    hidden: true,
    signedIn: true,
    main: html`<div class="row spread">
<h1>Dashboard</h1>
<p class="row small"><span class="muted">${nameOf(account)}</span> <a class="button secondary small" href="/api/auth/logout">Sign out</a></p>
</div>
${account.payment ? paymentNote(account.payment) : ''}
<noscript>${notice(html`<p>To run polls and to pay, let this page run scripts, or use the <a href="/api/docs">API</a>.</p>`, 'warn')}</noscript>
${balance(account)}
<nav class="jumps small" aria-label="On this page">
<a href="#run">Run a poll</a> <a href="#history">History</a> <a href="#keys">API keys</a> <a href="#funds">Add funds</a> <a href="#account">Account</a>
</nav>
${firstSteps(account)}
${runPollCard(facts, account)}
${historySection(account.history)}
<div class="dashboard-columns">
${keysSection(account.keys)}
${addFunds(account, funding)}
</div>
${profileSection(account, facts.config.identityProvider)}`,
  });

/** For an account that never ran a poll: what to do first, without what is done. */
function firstSteps({ history, balance: { balance_cents }, keys }: AccountView): Html {
  if (history.lines.length > 0 || history.number > 1) return html``;
  return html`<section class="card stack" aria-labelledby="first-title">
<h2 id="first-title">First steps</h2>
<ol>
<li><a href="/playground">Ask a free poll</a> to see what a result looks like.</li>
${balance_cents > 0 ? '' : html`<li><a href="#funds">Add funds</a>: a typical poll costs less than a cent.</li>\n`}<li><a href="#run">Run your first poll</a> here${keys.length > 0 ? ', or from code with your key.' : html`, or <a href="#keys">create a key</a> to run polls from code.`}</li>
</ol>
</section>
`;
}

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
