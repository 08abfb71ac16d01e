import { type Html, html } from './html.ts';

// The building blocks of pages. Their styles are in browser/parts.css under the same names, their scripts in
// browser/page.ts; everything can be read without scripts.

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

export const badge = (text: string, tone: Tone = 'neutral'): Html =>
  html`<span class="badge" data-tone="${tone}">${text}</span>`;

export const notice = (content: Html, tone: Tone = 'neutral'): Html =>
  html`<div class="notice" data-tone="${tone}">${content}</div>`;

/** Code that can be scrolled by keyboard, with a copy button if scripts run. */
export const code = (text: string, label: string): Html => html`<div class="code">
<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>
<button class="button secondary small" type="button" data-copy hidden>Copy<span class="hidden-text">: ${label}</span></button>
</div>`;

/** A table that scrolls in its own box if it is wider than the page. Head and body are rows of cells. */
export const table = (label: string, head: Html, body: readonly Html[]): Html =>
  html`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table>
<thead>${head}</thead>
<tbody>
${body}</tbody>
</table>
</div>`;

interface Panel {
  id: string;
  title: string;
  content: Html;
}

/** Panels one below the other, each with a title; with scripts, one at a time. */
export const tabs = (label: string, panels: readonly Panel[]): Html =>
  html`<div class="tabs" data-tabs="${label}">
${panels.map(
  ({ id, title, content }) => html`<section id="${id}" data-title="${title}">
<h3>${title}</h3>
${content}
</section>
`,
)}</div>`;
