import type { ProviderSettings } from '../../config/config.ts';
import { type Html, html } from '../html.ts';
import type { AccountView } from './account.ts';

/** The account and its ways to log in. */
export const profileSection = (
  { user, wallets, providers }: AccountView,
  provider: ProviderSettings | null,
): Html => html`<section class="card" id="account" aria-labelledby="account-title">
<h2 id="account-title">Account</h2>
<dl class="facts">
<dt>E-mail</dt><dd>${user.email.endsWith('.invalid') ? 'none verified' : user.email}</dd>
<dt>Account id</dt><dd class="mono">${user.userId}</dd>
<dt>Sign-in methods</dt><dd>${
  wallets.length + providers.length === 0
    ? 'API keys only'
    : html`<ul class="plain">
${providers.map((issuer) => html`<li>By ${nameOf(issuer, provider)}</li>`)}
${wallets.map((address) => html`<li>By wallet <span class="mono">${address}</span></li>`)}
</ul>`
}</dd>
</dl>
</section>
`;

/** A provider that is no longer configured has no name. */
const nameOf = (issuer: string, provider: ProviderSettings | null): string =>
  provider?.issuer === issuer ? provider.name : new URL(issuer).host;
