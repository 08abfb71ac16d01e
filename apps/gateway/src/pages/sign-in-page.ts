import type { Facts } from '../discovery/documents/facts.ts';
import { notice } from './components.ts';
import { html } from './html.ts';
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
    ? html`<p>You prove who you are at <strong>${new URL(identityProvider.issuer).host}</strong> and come back here. We learn your e-mail
address if it was verified there, and nothing else.</p>
<p><a class="button" href="${loginPath(next)}">Continue to sign in</a></p>`
    : html`<p class="muted">None is set up on this installation.</p>`
}
</section>
<section class="card stack" id="wallet" data-next="${next}" aria-labelledby="wallet-title">
<h2 id="wallet-title">With a wallet</h2>
<p>An Ethereum wallet signs a message of ours (Sign-In with Ethereum). It costs nothing and moves nothing. A wallet that is new here gets
an account and its first API key.</p>
<p><button class="button secondary" type="button" data-wallet disabled>Sign in with the wallet</button></p>
<p role="status" data-said>This needs scripts, and a wallet in this browser.</p>
<div data-key-shown tabindex="-1" hidden></div>
</section>
</div>
${notice(html`<p>Agents and programs need no page: a wallet signs in at <code>/api/wallet/challenge</code>, and
<a href="/api/docs">the documentation</a> has the rest.</p>`)}`,
  });

const loginPath = (next: string): string =>
  next === '/dashboard' ? '/api/auth/login' : `/api/auth/login?${new URLSearchParams({ next })}`;
