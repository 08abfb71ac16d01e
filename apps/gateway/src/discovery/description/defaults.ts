import { type DescribedSchema, type OpenApiDocument, operationsIn } from './shapes.ts';

// Defaults in words: generators take a property with `default` for one that is always there, also in requests, where its
// sender may leave it out.

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

/** Not the property of that name. */
const isDefaulted = (schema: object): schema is DescribedSchema =>
  'default' in schema && 'type' in schema && typeof schema.type === 'string' && typeof schema.default !== 'object';
