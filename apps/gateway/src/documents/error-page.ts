import type { ErrorEntry } from '@eloquentpoll/contracts';

/** One entry of the error catalogue for a person. */
export const errorPage = ({
  code,
  status,
  title,
  description,
  recovery,
  endpoints,
}: ErrorEntry): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escaped(title)} (${status})</title>
  </head>
  <body>
    <h1>${escaped(title)}</h1>
    <p><code>${escaped(code)}</code>, HTTP status ${status}. ${escaped(description)}</p>
    <h2>What to do</h2>
    <ul>
${recovery.map((step) => `      <li>${escaped(step.description)}${step.url ? ` <code>${escaped(`${step.method} ${step.url}`)}</code>` : ''}</li>`).join('\n')}
    </ul>
    <h2>Who answers it</h2>
    <ul>
${endpoints.map((endpoint) => `      <li><code>${escaped(endpoint)}</code></li>`).join('\n')}
    </ul>
    <p><a href="/api/errors/catalog">All errors</a></p>
  </body>
</html>
`;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char]!);
