import { createHash } from 'node:crypto';

// The page of a payment with play money, without scripts. It shows our own numbers and no text from outside.

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; padding: 1.5rem; }
button { display: block; width: 100%; margin-top: .75rem; padding: .65rem 1rem; font: inherit; }
`;

/** Forms go here, and on to where the payment leads. */
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
<title>Pay with play money</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Pay $${(cents / 100).toFixed(2)} of play money</h1>
<p>Models are simulated here, and so is this payment: no card is asked for, and nothing is charged. The credit buys polls
of simulated models on this machine.</p>
<form method="post">
<button name="answer" value="pay">Pay</button>
<button name="answer" value="cancel">Cancel</button>
</form>
</main>
</body>
</html>
`;
