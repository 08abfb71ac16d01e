import type { ErrorEntry } from '@eloquentpoll/contracts';
import { badge } from './components.ts';
import { html } from './html.ts';
import { layout } from './layout.ts';

/** An entry of the error catalogue as a page. */
export const errorPage = (baseUrl: string, entry: ErrorEntry): string => {
  const { code, status, title, description, recovery, retryable, endpoints } = entry;
  return layout({
    baseUrl,
    path: `/errors/${code}`,
    title: `${title} (${status}) · EloquentPoll`,
    description,
    main: html`<p class="eyebrow row">${badge(`HTTP ${status}`)} ${retryable ? badge('May be tried again', 'good') : badge('Change something first', 'warn')}</p>
<h1>${title}</h1>
<p class="lead">${description}</p>
<p class="muted">As the <code>code</code> of an error: <code>${code}</code></p>
<div class="grid wide-cells">
<section class="card"><h2>What to do</h2>
<ul>
${recovery.map(
  (step) => html`<li>${step.description}${step.url ? html` <code>${step.method ?? 'GET'} ${step.url}</code>` : ''}</li>
`,
)}</ul></section>
<section class="card"><h2>Who answers it</h2>
<ul class="plain">
${endpoints.map((endpoint) => html`<li><code>${endpoint}</code></li>\n`)}</ul></section>
</div>
<p><a href="/api/errors/catalog">All errors</a></p>`,
  });
};
