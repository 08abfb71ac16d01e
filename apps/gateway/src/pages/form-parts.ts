import { randomUUID } from 'node:crypto';
import { type Html, html } from './html.ts';

// Form fields with their labels.

export interface Choice {
  value: string;
  label: string;
}

export const select = (name: string, label: string, choices: readonly Choice[], chosen = ''): Html =>
  html`<p class="field"><label for="${name}">${label}</label>
<select id="${name}" name="${name}">
${choices.map(
  ({ value, label }) => html`<option value="${value}"${value === chosen ? html` selected` : html``}>${label}</option>
`,
)}</select></p>`;

/** Sent with a form that makes something, so that a second click makes no second one. */
export const oneTimeId = (): Html => html`<input type="hidden" name="form" value="${randomUUID()}">`;
