import { confirmationOf, type GrantRequest, labelOfGrant } from '../../accounts/keys/key-grant.ts';
import { html } from '../html.ts';
import { layout } from '../layout.ts';

export const GRANT_PATH = '/dashboard/grant';

/** Asks the account's owner whether a command line may get a key. */
export const grantPage = (baseUrl: string, request: GrantRequest): string =>
  layout({
    baseUrl,
    path: '/dashboard',
    title: 'Allow the command line? · EloquentPoll',
    description: 'An API key for the command line of this computer.',
    styles: ['dashboard'],
    hidden: true,
    signedIn: true,
    main: html`<h1>Allow the command line?</h1>
<p class="lead">A program on this computer asks for an API key of your account. With it, it can run polls that your balance pays for.</p>
<p>Allow it only if you started it, and if the terminal shows this code:</p>
<p class="lead"><strong>${confirmationOf(request)}</strong></p>
<p class="muted small">The key will be listed as “${labelOfGrant(request)}” on your dashboard, where you can revoke it.</p>
<form class="row" method="post" action="${GRANT_PATH}">
${Object.entries<string | number>({ ...request }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}
<button class="button" name="answer" value="allow">Allow</button>
<button class="button secondary" name="answer" value="refuse">Refuse</button>
</form>`,
  });
