import { nextPageOf } from '../accounts/login/next-page.ts';
import type { ProviderSettings } from '../config/config.ts';
import type { Facts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

const DASHBOARD = '/dashboard';

/**
 * Shown in place of a page that needs a login: two ways to sign in, then on to `address` (only its path if it is long).
 */
export const signInPage = (facts: Facts, address = DASHBOARD): string =>
  pageLeadingTo(facts, nextPageOf(address) ?? nextPageOf(address.split('?')[0]) ?? DASHBOARD);

/** For pages that anyone can see: leads to the login, and back. */
export const signInLink = (next: string): string => `${DASHBOARD}?${new URLSearchParams({ next })}`;

const pageLeadingTo = (facts: Facts, next: string): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: DASHBOARD,
    title: 'Sign in · EloquentPoll',
    description: 'Sign in for your balance, API keys and polls.',
    scripts: ['sign-in'],
    styles: ['dashboard'],
    hidden: true,
    main: html`<h1>Sign in</h1>
<p class="lead">For every panel, API keys and your polls. The first sign-in makes your account.${runsFreePolls(facts) ? tryFreePoll : ''}</p>
<div class="grid wide-cells">
${facts.config.identityProvider ? providerCard(facts.config.identityProvider, next) : ''}
<section class="card stack" id="wallet" data-next="${next}" aria-labelledby="wallet-title">
<h2 id="wallet-title">With an Ethereum wallet</h2>
<p>Sign a message with your wallet: no fee, no transaction. New wallets get an account and an API key.</p>
<p data-wallet-row hidden><button class="button secondary" type="button" data-wallet>Sign in with wallet</button></p>
<p class="muted" role="status" data-said>This needs scripts, and a wallet in this browser.</p>
<div data-key-shown tabindex="-1" hidden></div>
<p class="muted small">From code: see <a href="/api/docs#verifyWallet">wallet sign-in in the docs</a>.</p>
</section>
</div>`,
  });

const tryFreePoll = html` Free polls need none:
<a href="/?view=human">try one</a>.`;

const providerCard = (
  { name }: ProviderSettings,
  next: string,
): Html => html`<section class="card stack" aria-labelledby="provider-title">
<h2 id="provider-title">With your email address</h2>
<p>You sign in with ${name} and come back here. We only receive your verified email address.</p>
<p><a class="button" href="${loginPath(next)}">Sign in with ${name}</a></p>
</section>`;

const loginPath = (next: string): string =>
  next === DASHBOARD ? '/api/auth/login' : `/api/auth/login?${new URLSearchParams({ next })}`;
