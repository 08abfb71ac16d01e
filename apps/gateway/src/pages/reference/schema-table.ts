import { table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { type ApiSchema, shapeName } from './openapi-shapes.ts';

// Renders the fields of a schema as a table, and a schema's type in a few words.

export function fieldTable(label: string, { properties = {}, required = [] }: ApiSchema): Html {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      html`<tr><th scope="row" class="text"><code>${name}</code>${required.includes(name) ? html` <span class="badge">required</span>` : ''}</th>
<td class="text">${typeOf(schema)}</td><td class="text">${said(schema)}</td></tr>
`,
  );
  const head = html`<tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr>`;
  return table(label, head, rows);
}

/** `string`, `array of VoteResult`, `"a" | "b"`. Names of schemas are links. */
export function typeOf(schema: ApiSchema): Html {
  const name = shapeName(schema);
  if (name !== null) return html`<a href="#shape-${name}">${name}</a>`;
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return joined(either.map(typeOf), ' or ');
  if (schema.enum) return html`<code>${schema.enum.map((value) => JSON.stringify(value)).join(' | ')}</code>`;
  if (schema.items) return html`array of ${typeOf(schema.items)}`;
  return html`${[schema.type ?? 'any'].flat().join(' or ')}${schema.format === undefined ? '' : ` (${schema.format})`}`;
}

function said(schema: ApiSchema): Html {
  const limits = limitsOf(schema);
  const deprecated = schema.deprecated ? 'Deprecated. ' : '';
  return html`${deprecated}${proseOf(schema.description ?? '')}${limits === '' ? '' : html` <span class="muted">${limits}</span>`}`;
}

function limitsOf(schema: ApiSchema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, minItems, maxItems } = schema;
  return [
    within(minimum, maximum, ''),
    exclusiveMinimum === undefined ? null : `Above ${exclusiveMinimum}.`,
    exclusiveMaximum === undefined ? null : `Below ${exclusiveMaximum}.`,
    within(minLength, maxLength, ' characters'),
    within(minItems, maxItems, ' items'),
    schema.default === undefined ? null : `Default: ${JSON.stringify(schema.default)}.`,
  ]
    .filter((limit) => limit !== null)
    .join(' ');
}

function within(min: number | undefined, max: number | undefined, unit: string): string | null {
  if (min === undefined && max === undefined) return null;
  if (max === undefined) return min === 0 ? null : `At least ${min}${unit}.`;
  return min === undefined ? `At most ${max}${unit}.` : `${min} to ${max}${unit}.`;
}

/** Text from the document: words between backticks become code. */
export function proseOf(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

export const joined = (parts: readonly Html[], between: string): Html =>
  html`${parts.map((part, i) => (i === 0 ? part : html`${between}${part}`))}`;
