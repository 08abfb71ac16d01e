import { type DescribedSchema, type OpenApiDocument, operationsIn } from './shapes.ts';

// Writes defaults as text: from `default`, code generators conclude that a property is always present, even in
// requests, where it may be left out.

export function defaultsInWords(document: OpenApiDocument): void {
  for (const schema of Object.values(document.components.schemas)) rewrite(schema);
  for (const [, , { parameters = [], requestBody }] of operationsIn(document)) {
    for (const { schema } of parameters) rewrite(schema);
    for (const { schema } of Object.values(requestBody?.content ?? {})) rewrite(schema);
  }
}

function rewrite(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (isDefaulted(value)) {
    const words = `Default: \`${String(value.default)}\`.`;
    value.description = value.description === undefined ? words : `${value.description} ${words}`;
    delete value.default;
  }
  for (const member of Object.values(value)) rewrite(member);
}

/** Excludes a property that is itself named `default`. */
const isDefaulted = (schema: object): schema is DescribedSchema =>
  'default' in schema && 'type' in schema && typeof schema.type === 'string' && typeof schema.default !== 'object';
