import { createHash } from 'node:crypto';

// The payment page for play money, without scripts. It shows only our own numbers, no text from outside.

const STYLE = `
:root { color-scheme: light dark; --ink: #1c1e24; --soft: #5a5f6b; --paper: #fff; --back: #faf9f6; --line: #8b8f99;
  --edge: #e4e1d9; --act: #3350c8; --on-act: #fff; --warn-ink: #7d4e00; --warn: #fbeed3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9eaef; --soft: #a2a8b6; --paper: #191c23; --back: #111318;
  --line: #747b8b; --edge: #2a2e38; --act: #9fb2ff; --on-act: #0d1433; --warn-ink: #f0c374; --warn: #36290f; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back);
  color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; background: var(--paper); border: 1px solid var(--edge);
  border-radius: .75rem; padding: 2rem; }
.brand { display: flex; gap: .6rem; align-items: center; margin: 0 0 1rem; font-weight: 650; color: var(--ink); }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
p { margin: 0 0 1rem; color: var(--soft); }
.local { color: var(--warn-ink); background: var(--warn); border-radius: .5rem; padding: .5rem .75rem; font-size: .9rem; }
button { display: block; width: 100%; min-height: 2.75rem; margin-top: .75rem; padding: .65rem 1rem; font: inherit;
  font-weight: 600; border: 1px solid var(--act); border-radius: .5rem; background: var(--act); color: var(--on-act);
  cursor: pointer; }
button.other { background: transparent; color: var(--ink); border-color: var(--line); }
:focus-visible { outline: 3px solid var(--act); outline-offset: 2px; }
`;

/** The service's logo, inline, because this page loads nothing. */
const LOGO = `<svg width="26" height="26" viewBox="0 0 64 64" aria-hidden="true"><rect width="64" height="64" rx="14" fill="#3457d5"/><path fill="#fff" fill-opacity=".55" d="M12 30h10v20H12zM42 38h10v12H42z"/><path fill="#fff" d="M27 14h10v36H27z"/></svg>`;

/** Allows forms to be sent to this server and to the payment's target. */
export const payPagePolicy = (next: string): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    `form-action 'self' ${URL.parse(next)?.origin ?? ''}`.trim(),
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

export const payPage = (cents: number): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Add play money · EloquentPoll</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<p class="brand">${LOGO} EloquentPoll</p>
<h1>Add $${(cents / 100).toFixed(2)} of play money</h1>
<p class="local">Demo mode: no card is asked for, and nothing is charged.</p>
<p>The models are simulated here, and so is this payment. The credit buys polls of simulated models on this machine.</p>
<form method="post">
<button name="answer" value="pay">Add $${(cents / 100).toFixed(2)}</button>
<button class="other" name="answer" value="cancel">Cancel</button>
</form>
</main>
</body>
</html>
`;
