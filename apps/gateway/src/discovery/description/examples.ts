import type { Facts } from '../documents/facts.ts';
import { GUIDANCE } from '../documents/operation-guidance.ts';
import { sampleOf } from '../documents/operation-samples.ts';
import { type OpenApiDocument, operationsIn } from './shapes.ts';

/** Adds samples, which generators and readers show instead of values made up from types. */
export function addExamples(document: OpenApiDocument, facts: Pick<Facts, 'panels'>): void {
  for (const [, , { operationId, requestBody, parameters = [] }] of operationsIn(document)) {
    const { body, path = {}, query = {} } = sampleOf(operationId, facts);
    const json = requestBody?.content?.['application/json'];
    if (body && json) json.example = body;
    for (const parameter of parameters) {
      const value = parameter.in === 'path' ? path[parameter.name] : query[parameter.name];
      if (value === undefined) continue;
      parameter.example = parameter.schema?.type === 'integer' ? Number(value) : decodeURIComponent(value);
    }
  }
}

/** Describes the purpose of operations whose routes do not. */
export function describeAll(document: OpenApiDocument): void {
  for (const [method, path, operation] of operationsIn(document)) {
    const { use, not } = GUIDANCE[`${method} ${path}`] ?? { use: `${operation.summary}, at \`${path}\`.` };
    operation.description ??= not === undefined ? use : `${use} Otherwise: ${not}`;
  }
}
