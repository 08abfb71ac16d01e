import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fastify } from 'fastify';
import { madeOnce } from '../../http/made-once.ts';

// Scalar's viewer for OpenAPI documents, self-hosted. Scalar ships its script in a Fastify plugin whose page has inline
// code; we extract the script and serve it on our own page, which has none.

interface ReaderScript {
  plain: Buffer;
  gzip: Buffer;
}

/** Four megabytes, so it is loaded only when the documentation is first requested. */
export const readerScript = madeOnce(async (): Promise<ReaderScript> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const shell = fastify();
  await shell.register(scalar, { routePrefix: '/reader', configuration: { url: '/' } });
  const plain = (await shell.inject('/reader/js/scalar.js')).rawPayload;
  await shell.close();
  return { plain, gzip: await promisify(gzip)(plain) };
});

export const readerPage = (): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Try the API · EloquentPoll</title>
    <link rel="icon" href="/logo.svg" type="image/svg+xml">
  </head>
  <body>
    <p style="font: 15px system-ui, sans-serif; margin: 0; padding: 10px 16px"><a href="/?view=human">EloquentPoll</a> · <a href="/api/docs">API reference</a></p>
    <noscript>This page needs JavaScript. The <a href="/api/docs">API reference</a> does not.</noscript>
    <div id="app"></div>
    <script src="/api/docs/reader.js"></script>
    <script src="/api/docs/start.js"></script>
  </body>
</html>
`;

/** Replaces Scalar's text colours that have too little contrast. */
const COLOURS = `
.light-mode { --scalar-color-2: #4a4f5a; --scalar-color-3: #5a5f6b; --scalar-color-green: #17683f;
  --scalar-color-red: #a8262d; --scalar-color-blue: #0b5cad; --scalar-color-orange: #9a4200; --scalar-color-accent: #3350c8; }
.dark-mode { --scalar-color-red: #ff9c98; --scalar-color-3: #a2a8b6; --scalar-color-accent: #9fb2ff; }
.property--deprecated.property--deprecated.property--deprecated > * { opacity: 1; }
`;

/** Labels for buttons whose accessible name is missing or wrong. */
const NAMES = `new MutationObserver(() => {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) button.ariaLabel = 'Copy';
  for (const link of document.querySelectorAll('#app a[href^="mailto:"]:not([aria-label]), #app a[href="' + location.origin + '"]:not([aria-label])'))
    link.ariaLabel = link.textContent.trim() || link.href;
  for (const list of document.querySelectorAll('button[aria-label="Schema"]')) list.ariaLabel = 'Schema ' + list.textContent;
}).observe(document.body, { childList: true, subtree: true });
`;

/** Turns off everything that calls Scalar's servers. */
export const START_SCRIPT = `${NAMES}Scalar.createApiReference('#app', ${JSON.stringify(
  {
    url: '/api/openapi.json',
    withDefaultFonts: false,
    telemetry: false,
    proxyUrl: '',
    hideClientButton: true,
    showDeveloperTools: 'never',
    agent: { disabled: true },
    mcp: { disabled: true },
    persistAuth: false,
    authentication: { preferredSecurityScheme: 'apiKey' },
    customCss: COLOURS,
  },
  null,
  2,
)});
`;
