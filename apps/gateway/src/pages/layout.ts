import { type Html, html } from './html.ts';

// The frame of every page, and the policy that goes with it: style and scripts from here, nothing inline and nothing from
// anywhere else.

export const PAGE_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  title: string;
  description: string;
  main: Html;
}

export const layout = ({ title, description, main }: Page): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="/logo.svg" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="/">
<link rel="stylesheet" href="/style.css">
<script src="/web-mcp.js" defer></script>
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header>
<strong>EloquentPoll</strong>
<a href="/">For agents</a>
<a href="/?view=human">For people</a>
<a href="/api/docs">Documentation</a>
</header>
<main id="main">
${main}
</main>
<footer>
<a href="/llms.txt">llms.txt</a>
<a href="/api/openapi.json">OpenAPI</a>
<a href="/api/errors/catalog">Errors</a>
<a href="/api/health">Health</a>
<a href="/?view=human#terms">Data and terms</a>
</footer>
</body>
</html>
`.toString();
