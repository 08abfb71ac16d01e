import { html } from './html.ts';
import { layout } from './layout.ts';

/** The page of a failed login: the reason, and a link to try again. */
export const failedLoginPage = (baseUrl: string, reason: string): string =>
  layout({
    baseUrl,
    path: '/dashboard',
    title: 'Not signed in · EloquentPoll',
    description: reason,
    hidden: true,
    main: html`<h1>You are not signed in</h1>
<p class="lead">${reason}</p>
<p class="row"><a class="button" href="/api/auth/login">Try again</a><a class="button secondary" href="/dashboard">Other ways to sign in</a></p>
<p class="muted">Free polls need no account: <a href="/playground">try one</a>.</p>`,
  });
