import type { SiteFacts } from '../discovery/documents/facts.ts';
import { runsFreePolls } from '../polls/order/runs-free-polls.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

const tryPlayground = html`
<p class="muted">Free polls need no account: <a href="/playground">try one</a>.</p>`;

/** The page after a failed login: the reason, and a link to try again. */
export const failedLoginPage = (facts: SiteFacts, reason: string): string =>
  layout({
    baseUrl: facts.baseUrl,
    path: '/dashboard',
    title: 'Not signed in · EloquentPoll',
    description: reason,
    hidden: true,
    main: html`<h1>You are not signed in</h1>
<p class="lead">${reason}</p>
<p class="row"><a class="button" href="/api/auth/login">Try again</a><a class="button secondary" href="/dashboard">Other ways to sign in</a></p>${runsFreePolls(facts) ? tryPlayground : ''}`,
  });
