import { type OpenApiDocument, operationsIn } from './shapes.ts';

/** Object parameters are sent member by member: `metadata[customer]=42`. */
export function spellObjectParameters(document: OpenApiDocument): void {
  for (const [, , { parameters = [] }] of operationsIn(document)) {
    for (const parameter of parameters) {
      if (parameter.schema?.type === 'object') Object.assign(parameter, { style: 'deepObject', explode: true });
    }
  }
}
