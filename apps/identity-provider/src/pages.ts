import { createHash } from 'node:crypto';
import { EMAIL_PATTERN, LOCAL_EMAIL } from './people.ts';

// Pages without scripts and external resources. All text from outside is escaped.

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1e24; --soft: #5a5f6b; --paper: #fff; --back: #faf9f6; --line: #8b8f99;
  --edge: #e4e1d9; --act: #3350c8; --on-act: #fff; --warn-ink: #7d4e00; --warn: #fbeed3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9eaef; --soft: #a2a8b6; --paper: #191c23; --back: #111318;
  --line: #747b8b; --edge: #2a2e38; --act: #9fb2ff; --on-act: #0d1433; --warn-ink: #f0c374; --warn: #36290f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; background: var(--paper); border: 1px solid var(--edge); border-radius: .75rem; padding: 2rem; }
.brand { display: flex; gap: .6rem; align-items: center; margin: 0 0 1rem; font-weight: 650; color: var(--ink); }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; color: var(--soft); }
strong { color: var(--ink); overflow-wrap: anywhere; }
.local { color: var(--warn-ink); background: var(--warn); border-radius: .5rem; padding: .5rem .75rem; font-size: .9rem; }
.wrong { color: var(--ink); border-left: .25rem solid #d13438; padding-left: .75rem; }
label { display: block; font-weight: 600; margin-bottom: .25rem; }
input { width: 100%; font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: .5rem; padding: .6rem .75rem; margin-bottom: 1rem; }
button { width: 100%; font: inherit; font-weight: 600; border: 1px solid var(--act); border-radius: .5rem;
  padding: .65rem 1rem; background: var(--act); color: var(--on-act); cursor: pointer; min-height: 2.75rem; }
button.other { margin-top: .75rem; background: transparent; color: var(--ink); border-color: var(--line); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

/** The service's logo, inline, because this page loads nothing. */
const LOGO = `<svg width="26" height="26" viewBox="0 0 64 64" aria-hidden="true"><rect width="64" height="64" rx="14" fill="#3457d5"/><path fill="#fff" fill-opacity=".55" d="M12 30h10v20H12zM42 38h10v12H42z"/><path fill="#fff" d="M27 14h10v36H27z"/></svg>`;

/** The browser runs no script, loads nothing, and sends forms only to this server and to the login's targets. */
export const loginPagePolicy = (...targets: string[]): string =>
  [
    "default-src 'none'",
    "script-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    `form-action ${["'self'", ...targets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · demo login</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">${LOGO} EloquentPoll</p>
<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`;

const LOCAL = `<p class="local">Local development only: there is no check of who you are, and this page exists on this machine only.</p>`;

export function loginPage(client: string, wrong: { email: string } | null): string {
  const complaint = wrong && '<p class="wrong" id="wrong" role="alert">This is not an e-mail address.</p>';
  return page(
    `Sign in to ${client}`,
    `${LOCAL}
<p>Any e-mail address will do, and there is no password. <strong>${LOCAL_EMAIL}</strong> is the pre-funded
demo account.</p>
${complaint ?? ''}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="120" pattern="${EMAIL_PATTERN}"
 value="${escaped(wrong?.email ?? LOCAL_EMAIL)}"${wrong ? ' aria-invalid="true" aria-describedby="wrong"' : ''}>
<button name="answer" value="yes">Sign in</button>
<button class="other" name="answer" value="no" formnovalidate>Cancel</button>
</form>`,
  );
}

export const consentPage = (client: string, leadsTo: string, email: string): string =>
  page(
    `Let ${client} in?`,
    `${LOCAL}
<p><strong>${escaped(client)}</strong> asks to use EloquentPoll as <strong>${escaped(email)}</strong>: run polls, see
results and the balance. You will be sent to <strong>${escaped(leadsTo)}</strong>.</p>
<form method="post">
<button name="answer" value="yes">Allow</button>
<button class="other" name="answer" value="no">Refuse</button>
</form>`,
  );

/** `form`: the provider's own, with its CSRF token. */
export const logoutPage = (form: string): string =>
  page(
    'Sign out',
    `${LOCAL}
<p>You are signed out of EloquentPoll. Also sign out of the demo login?</p>
${form}
<button form="op.logoutForm" name="logout" value="yes">Sign out</button>
<button class="other" form="op.logoutForm">Stay signed in here</button>`,
  );

export const notePage = (title: string, note: string): string => page(title, `${LOCAL}\n<p>${escaped(note)}</p>`);

const NAMES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => NAMES[character] ?? '');
