import type { Facts } from '../discovery/documents/facts.ts';
import { notice } from './components.ts';
import { type Html, html } from './html.ts';
import { layout } from './layout.ts';

/** A page that needs a login, without one: two ways to sign in, and then on to `next`, a path of ours. */
export const signInPage = ({ baseUrl, config: { identityProvider } }: Facts, next = '/dashboard'): string =>
  layout({
    baseUrl,
    path: '/dashboard',
    title: 'Sign in · EloquentPoll',
    description: 'Sign in with the identity provider or with an Ethereum wallet.',
    scripts: ['sign-in'],
    styles: ['dashboard'],
    hidden: true,
    main: html`<h1>Sign in</h1>
<p class="lead">For your balance, keys and polls. Free polls need no account: <a href="/?view=human">try one</a>.</p>
<div class="grid wide-cells">
<section class="card stack" aria-labelledby="provider-title">
<h2 id="provider-title">With an identity provider</h2>
${
  identityProvider
    ? html`<p>Sign in with ${providerName(identityProvider.issuer)}. We only receive your verified email address.</p>
<p><a class="button" href="${loginPath(next)}">Continue to sign in</a></p>`
    : html`<p class="muted">Not set up on this installation.</p>`
}
</section>
<section class="card stack" id="wallet" data-next="${next}" aria-labelledby="wallet-title">
<h2 id="wallet-title">With a wallet</h2>
<p>Sign a message with your Ethereum wallet: no fee, no transaction. New wallets get an account and an API key.</p>
<p><button class="button secondary" type="button" data-wallet disabled>Sign in with wallet</button></p>
<p role="status" data-said>This needs scripts, and a wallet in this browser.</p>
<div data-key-shown tabindex="-1" hidden></div>
</section>
</div>
${notice(html`<p>From code: see <a href="/api/docs">wallet sign-in in the docs</a>.</p>`)}`,
  });

/** A host and port of this machine say nothing to a reader. */
function providerName(issuer: string): Html {
  const { hostname, host } = new URL(issuer);
  return /^(localhost|127\.|\[::1\])/.test(hostname)
    ? html`<strong>the demo login</strong> of this machine`
    : html`<strong>${host}</strong>`;
}

const loginPath = (next: string): string =>
  next === '/dashboard' ? '/api/auth/login' : `/api/auth/login?${new URLSearchParams({ next })}`;
