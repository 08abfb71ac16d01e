import { randomUUID } from 'node:crypto';
import type { Extras } from './ask-again.ts';
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

/** A checkbox for each extra that the earlier poll used. An unchecked box is not sent. */
export const extraBoxes = ({ search = false, reasons = false }: Partial<Extras>): Html =>
  html`${search ? box('search', 'The models search the web') : ''}${reasons ? box('reasons', 'Each model gives its reason') : ''}`;

const box = (name: string, label: string): Html =>
  html`<p class="field check"><label><input type="checkbox" name="${name}" value="true" checked> ${label}</label></p>
`;

/** Sent with a form that creates something, so that a second click does not create it twice. */
export const oneTimeId = (): Html => html`<input type="hidden" name="form" value="${randomUUID()}">`;
